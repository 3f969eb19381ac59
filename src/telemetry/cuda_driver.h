// CUDA's driver library, found at run time, as far as the diagnostic needs it: memory, copies, one kernel.
// Not thread-safe: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::telemetry {

// CUdeviceptr
using DevicePointer = std::uint64_t;

class CudaDriver {
 public:
  // `library` empty: $PAGODA_CUDA_LIBRARY, else libcuda.so.1 where the loader finds it. kNotFound: no such
  // library, or a symbol is missing; kUnavailable: no device, or cuInit failed. The message says which.
  static Result<std::shared_ptr<CudaDriver>> open(const std::string& library = {});
  ~CudaDriver();
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  int device_count() const;
  // CUDA's number of the GPU with this UUID ("GPU-…"); kNotFound: hidden by CUDA_VISIBLE_DEVICES, or in MIG
  // mode.
  Result<int> find(const std::string& uuid) const;
  // All that follows is on this device.
  Status use(int device);

  struct Memory {
    size_t free = 0, total = 0;
  };
  Result<Memory> memory() const;
  Result<DevicePointer> allocate(size_t bytes);
  void release(DevicePointer pointer);
  // Memory of the host that the GPU copies from and to at full speed.
  Result<void*> allocate_host(size_t bytes);
  void release_host(void* pointer);
  Status fill(DevicePointer to, std::uint32_t word, size_t words);
  Status to_host(void* to, DevicePointer from, size_t bytes);
  Status to_device(DevicePointer to, const void* from, size_t bytes);
  Status on_device(DevicePointer to, DevicePointer from, size_t bytes);
  Status wait();

  // Compiles PTX and runs one of its kernels, whose parameters are a pointer and a 32-bit number.
  Status load(const char* ptx, const char* kernel);
  Status launch(unsigned blocks, unsigned threads, DevicePointer data, std::uint32_t number);

 private:
  struct Functions;
  explicit CudaDriver(std::unique_ptr<Functions> functions);
  Status check(int code, std::string_view what) const;

  std::unique_ptr<Functions> functions_;
  int device_ = -1;
  void* context_ = nullptr;
  void* module_ = nullptr;
  void* kernel_ = nullptr;
};

}  // namespace pagoda::telemetry
