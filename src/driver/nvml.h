// NVML, NVIDIA's management library, bound by name at run time: found or not, new or old, on a healthy
// machine or one whose GPU hangs. Rows of nvml_calls.h are the calls, Gpu (nvml_gpu.h) and Nvml run them,
// Reading (nvml_reading.h) is what comes back. Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "driver/nvml_gpu.h"

namespace pagoda::driver {

struct NvmlOptions {
  std::string library;  // a path; empty: $PAGODA_NVML_LIBRARY, else where the loader finds it
  std::chrono::milliseconds call_deadline{5000};
  // nvmlInit and the handles: without persistence mode the driver sets each GPU up now, which takes seconds.
  std::chrono::milliseconds open_deadline{60000};
};

// Why NVML cannot be used at all. `code` is nvidia-smi's exit status for it.
struct NvmlOpenFailure {
  nvmlReturn_t code = NVML_ERROR_UNKNOWN;
  std::string message;  // the cause and the remedy, one line
  std::string
      library_version;  // NVML's own version where it answered, e.g. for a driver/library mismatch; or empty
};

class Nvml {
 public:
  // Loads the library and initialises it. Handles of GPUs are fetched all at once, each on its own worker.
  static tl::expected<Nvml, NvmlOpenFailure> open(const NvmlOptions& options = {});

  // One per index below NVML's device count, also those whose handle could not be had (their readings say
  // why).
  const std::vector<Gpu>& gpus() const;
  // By index, UUID, serial number or PCI bus id, as `nvidia-smi -i` takes it; a MIG device by its UUID.
  Reading<Gpu> find(const std::string& name) const;

  // As Gpu's, without a device: read(nvml::kSystemGetCudaDriverVersion_v2),
  // text(nvml::kSystemGetDriverVersion).
  template <class... P, class... In>
  auto read(const nvml::Call<nvmlReturn_t(P...)>& call, In... in) const {
    using Tuple = typename nvml::Outputs<sizeof...(In), P...>::Tuple;
    return nvml::unwrap<Tuple>(system().run<Tuple>(call, [=](auto* function, Tuple& outputs) {
      return std::apply([&](auto&... output) { return function(in..., &output...); }, outputs);
    }));
  }
  template <class... P, class... In>
  Reading<std::string> text(const nvml::Call<nvmlReturn_t(P...)>& call, In... in) const {
    using Buffer = std::array<char, 4096>;  // a process's name may be a long path
    auto read = system().run<Buffer>(call, [=](auto* function, Buffer& buffer) {
      return function(in..., buffer.data(), static_cast<unsigned>(buffer.size()));
    });
    if (!read) return tl::unexpected<Absence>(read.error());
    return std::string(read->data(), strnlen(read->data(), read->size()));
  }

  // Runs body(const Gpu&) for every GPU at once, one thread each, and waits for all: a GPU that hangs costs
  // one deadline in all, not one after another's.
  template <class Body>
  void for_each_gpu(Body body) const {
    std::vector<std::thread> threads;
    for (const Gpu& gpu : gpus()) threads.emplace_back([&body, &gpu] { body(gpu); });
    for (auto& thread : threads) thread.join();
  }

  // The library exports this call (under any of its names).
  template <class Function>
  bool has(const nvml::Call<Function>& call) const {
    return system().has(call.names);
  }
  const std::string& library_path() const;
  const nvml::Runner& system() const;

 private:
  struct Core;
  explicit Nvml(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  std::shared_ptr<Core> core_;
};

}  // namespace pagoda::driver
