// What NVML shows of the GPUs of a machine, over a window: steps 1 to 4 of the five.
#pragma once

#include <string_view>

#include "driver/nvml.h"
#include "faults/examination.h"
#include "faults/host_inspection.h"
#include "faults/load_window.h"

namespace pagoda::faults {

struct GpuInspection {
  WindowOptions window;
  // The GPUs are simulated: this machine's bus, kernel and processes say nothing of them.
  bool simulated = false;
};

// `host`: what inspect_host() saw of the machine, or an empty view for simulated GPUs. The XIDs that NVML
// told meanwhile come back: they are for where the kernel's log, which has the whole sentence, cannot be
// read.
std::vector<Event> inspect_gpus(const driver::Nvml& nvml, const driver::HostRoot& root, const HostView& host,
                                const GpuInspection& options, Examination& examination);

// NVML cannot be used: a fault where there are GPUs that it should answer for, else a gap.
void inspect_absence(const driver::NvmlOpenFailure& failure, const HostView& host, bool simulated,
                     Examination& examination);

// An XID that NVML told, as the kernel's log would have shown it. `gpu`: address or index.
Event xid_event(unsigned long long xid, std::string_view gpu);

}  // namespace pagoda::faults
