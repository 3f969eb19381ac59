// A machine as it runs, once: its bus, driver and processes, its GPUs over a window, its kernel's log.
#pragma once

#include <memory>
#include <optional>

#include "driver/nvml.h"
#include "faults/examination.h"
#include "faults/gpu_inspection.h"

namespace pagoda::faults {

// NVML, kept between examinations of one machine: without persistence mode each opening sets the GPUs up
// anew.
class GpuAccess {
 public:
  // Opens it where it is not open. nullptr: it cannot be, and failure() says why.
  const driver::Nvml* open();
  const driver::NvmlOpenFailure& failure() const { return failure_; }
  // So that the next examination sees GPUs that were attached, reset or lost meanwhile, and a driver that was
  // replaced.
  void close() { nvml_ = nullptr; }

 private:
  std::unique_ptr<driver::Nvml> nvml_;
  driver::NvmlOpenFailure failure_;
};

// All but the kernel's log. The XIDs that NVML told meanwhile come back, as inspect_gpus() returns them.
std::vector<Event> examine_devices(const driver::HostRoot& root, const GpuInspection& options,
                                   GpuAccess& access, Examination& examination);

// All of it.
void examine_machine(const driver::HostRoot& root, const GpuInspection& options, Examination& examination);

}  // namespace pagoda::faults
