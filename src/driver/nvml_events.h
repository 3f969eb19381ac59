// Events of all GPUs: XIDs, ECC errors, changes of clocks and states, as NVML tells them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "driver/nvml.h"

namespace pagoda::driver {

struct NvmlEvent {
  unsigned gpu = 0;             // index in Nvml::gpus()
  unsigned long long type = 0;  // nvmlEventType…
  unsigned long long data = 0;  // of nvmlEventTypeXidCriticalError: the XID
  std::optional<unsigned> gpu_instance, compute_instance;
};

class NvmlEvents {
 public:
  // Registers `types` (what a GPU supports of them) on every GPU. A GPU that cannot be registered is left
  // out; absent only where none could be. Waits on a worker of its own, so that readings go on meanwhile.
  static Reading<NvmlEvents> open(const Nvml& nvml, unsigned long long types = nvmlEventTypeXidCriticalError);

  // The next event, or nothing within `timeout`. Absent where waiting failed (e.g. kLost). One thread at a
  // time.
  Reading<std::optional<NvmlEvent>> wait(std::chrono::milliseconds timeout);

  // The GPUs that events can come from.
  const std::vector<unsigned>& gpus() const { return gpus_; }

 private:
  struct Set;
  NvmlEvents(Nvml nvml, std::shared_ptr<Set> set, std::vector<unsigned> gpus)
      : nvml_(std::move(nvml)), set_(std::move(set)), gpus_(std::move(gpus)) {}

  Nvml nvml_;
  std::shared_ptr<Set> set_;
  std::vector<unsigned> gpus_;
};

}  // namespace pagoda::driver
