// XIDs that the kernel log tells, for times when nobody listened to NVML.
#pragma once

#include <string_view>
#include <vector>

#include "driver/gpu_snapshot.h"
#include "telemetry/gpu_sample.h"

namespace pagoda::app {

// Those since then (µs since 1970); none where the log may not be read.
std::vector<telemetry::XidEvent> kernel_xids(const driver::MachineSnapshot& machine, std::int64_t since_us);

// From the log's text ("[seconds] NVRM: Xid (PCI:0000:3b:00): 79, …"); `boot_us`: when its seconds began.
std::vector<telemetry::XidEvent> xids_in_log(std::string_view log, const driver::MachineSnapshot& machine,
                                             std::int64_t boot_us, std::int64_t since_us);

}  // namespace pagoda::app
