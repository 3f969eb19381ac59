#include "telemetry/cuda_driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

// The CUDA driver API's own types, as far as they are used: CUresult and CUdevice are int, handles are
// pointers.
struct Uuid {
  unsigned char bytes[16];
};

std::string uuid_text(const Uuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

}  // namespace

struct CudaDriver::Functions {
  void* library = nullptr;
  std::string missing;  // the first symbol that is not there

  template <class Function>
  Function* find(const char* name) {
    void* symbol = ::dlsym(library, name);
    if (symbol == nullptr && missing.empty()) missing = name;
    return reinterpret_cast<Function*>(symbol);
  }

  int (*init)(unsigned) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_uuid)(Uuid*, int) = nullptr;
  int (*retain_context)(void**, int) = nullptr;
  int (*release_context)(int) = nullptr;
  int (*set_context)(void*) = nullptr;
  int (*synchronize)() = nullptr;
  int (*memory_info)(size_t*, size_t*) = nullptr;
  int (*allocate)(DevicePointer*, size_t) = nullptr;
  int (*release)(DevicePointer) = nullptr;
  int (*allocate_host)(void**, size_t) = nullptr;
  int (*release_host)(void*) = nullptr;
  int (*fill)(DevicePointer, unsigned, size_t) = nullptr;
  int (*to_host)(void*, DevicePointer, size_t) = nullptr;
  int (*to_device)(DevicePointer, const void*, size_t) = nullptr;
  int (*on_device)(DevicePointer, DevicePointer, size_t) = nullptr;
  int (*load_module)(void**, const void*) = nullptr;
  int (*unload_module)(void*) = nullptr;
  int (*find_kernel)(void**, void*, const char*) = nullptr;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                void**) = nullptr;
  int (*error_name)(int, const char**) = nullptr;

  void look_up() {
    init = find<int(unsigned)>("cuInit");
    device_count = find<int(int*)>("cuDeviceGetCount");
    device_uuid = find<int(Uuid*, int)>("cuDeviceGetUuid");
    retain_context = find<int(void**, int)>("cuDevicePrimaryCtxRetain");
    release_context = find<int(int)>("cuDevicePrimaryCtxRelease_v2");
    set_context = find<int(void*)>("cuCtxSetCurrent");
    synchronize = find<int()>("cuCtxSynchronize");
    memory_info = find<int(size_t*, size_t*)>("cuMemGetInfo_v2");
    allocate = find<int(DevicePointer*, size_t)>("cuMemAlloc_v2");
    release = find<int(DevicePointer)>("cuMemFree_v2");
    allocate_host = find<int(void**, size_t)>("cuMemAllocHost_v2");
    release_host = find<int(void*)>("cuMemFreeHost");
    fill = find<int(DevicePointer, unsigned, size_t)>("cuMemsetD32_v2");
    to_host = find<int(void*, DevicePointer, size_t)>("cuMemcpyDtoH_v2");
    to_device = find<int(DevicePointer, const void*, size_t)>("cuMemcpyHtoD_v2");
    on_device = find<int(DevicePointer, DevicePointer, size_t)>("cuMemcpyDtoD_v2");
    load_module = find<int(void**, const void*)>("cuModuleLoadData");
    unload_module = find<int(void*)>("cuModuleUnload");
    find_kernel = find<int(void**, void*, const char*)>("cuModuleGetFunction");
    launch = find<int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                      void**, void**)>("cuLaunchKernel");
    error_name = find<int(int, const char**)>("cuGetErrorName");
  }
};

CudaDriver::CudaDriver(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}

// The library stays loaded: CUDA's threads live on.
CudaDriver::~CudaDriver() {
  if (module_ != nullptr) functions_->unload_module(module_);
  if (context_ != nullptr) functions_->release_context(device_);
}

Result<std::shared_ptr<CudaDriver>> CudaDriver::open(const std::string& library) {
  const char* chosen = std::getenv("PAGODA_CUDA_LIBRARY");
  const std::string path = !library.empty() ? library : chosen != nullptr ? chosen : "libcuda.so.1";
  auto functions = std::make_unique<Functions>();
  functions->library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (functions->library == nullptr)
    return fail(ErrorCode::kNotFound, format("there is no CUDA driver library ({})", ::dlerror()));
  functions->look_up();
  if (!functions->missing.empty())
    return fail(ErrorCode::kNotFound,
                format("{} has no {}: the driver is too old", path, functions->missing));
  std::shared_ptr<CudaDriver> driver(new CudaDriver(std::move(functions)));
  PAGODA_TRY(driver->check(driver->functions_->init(0), "CUDA could not be initialised"));
  if (driver->device_count() == 0) return fail(ErrorCode::kUnavailable, "CUDA sees no device");
  return driver;
}

Status CudaDriver::check(int code, std::string_view what) const {
  if (code == 0) return {};
  const char* name = nullptr;
  if (functions_->error_name(code, &name) != 0 || name == nullptr) name = "an unknown error";
  return fail(ErrorCode::kUnavailable, format("{}: {} ({})", what, name, code));
}

int CudaDriver::device_count() const {
  int count = 0;
  return functions_->device_count(&count) == 0 ? count : 0;
}

Result<int> CudaDriver::find(const std::string& uuid) const {
  for (int device = 0; device < device_count(); ++device) {
    Uuid own{};
    if (functions_->device_uuid(&own, device) == 0 && uuid_text(own) == uuid) return device;
  }
  return fail(ErrorCode::kNotFound,
              format("CUDA does not see {}: CUDA_VISIBLE_DEVICES may hide it, or it is in MIG mode", uuid));
}

Status CudaDriver::use(int device) {
  if (module_ != nullptr) functions_->unload_module(std::exchange(module_, nullptr));
  if (context_ != nullptr) functions_->release_context(device_);
  context_ = nullptr;
  PAGODA_TRY(check(functions_->retain_context(&context_, device), "the GPU could not be opened"));
  device_ = device;
  return check(functions_->set_context(context_), "the GPU could not be opened");
}

Result<CudaDriver::Memory> CudaDriver::memory() const {
  Memory memory;
  PAGODA_TRY(check(functions_->memory_info(&memory.free, &memory.total), "free memory could not be read"));
  return memory;
}

Result<DevicePointer> CudaDriver::allocate(size_t bytes) {
  DevicePointer pointer = 0;
  PAGODA_TRY(check(functions_->allocate(&pointer, bytes), format("{} bytes could not be taken", bytes)));
  return pointer;
}
void CudaDriver::release(DevicePointer pointer) {
  functions_->release(pointer);
}
Result<void*> CudaDriver::allocate_host(size_t bytes) {
  void* pointer = nullptr;
  PAGODA_TRY(check(functions_->allocate_host(&pointer, bytes),
                   format("{} bytes of the host could not be locked", bytes)));
  return pointer;
}
void CudaDriver::release_host(void* pointer) {
  functions_->release_host(pointer);
}
Status CudaDriver::fill(DevicePointer to, std::uint32_t word, size_t words) {
  return check(functions_->fill(to, word, words), "memory could not be written");
}
Status CudaDriver::to_host(void* to, DevicePointer from, size_t bytes) {
  return check(functions_->to_host(to, from, bytes), "a copy to the host failed");
}
Status CudaDriver::to_device(DevicePointer to, const void* from, size_t bytes) {
  return check(functions_->to_device(to, from, bytes), "a copy to the GPU failed");
}
Status CudaDriver::on_device(DevicePointer to, DevicePointer from, size_t bytes) {
  return check(functions_->on_device(to, from, bytes), "a copy on the GPU failed");
}
Status CudaDriver::wait() {
  return check(functions_->synchronize(), "the GPU did not finish its work");
}

Status CudaDriver::load(const char* ptx, const char* kernel) {
  PAGODA_TRY(check(functions_->load_module(&module_, ptx), "the kernel could not be compiled"));
  return check(functions_->find_kernel(&kernel_, module_, kernel), "the kernel could not be found");
}

Status CudaDriver::launch(unsigned blocks, unsigned threads, DevicePointer data, std::uint32_t number) {
  void* parameters[] = {&data, &number};
  return check(functions_->launch(kernel_, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr),
               "the kernel could not be started");
}

}  // namespace pagoda::telemetry
