// What the doctor's sentences say of chips and releases; the tables are the driver floor's (chips.h,
// cuda_releases.h, stack_findings.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pagoda::faults {

// "12.4" → "550.54.14"; an unknown later minor of a known major → that of the last one known below it.
std::optional<std::string_view> least_driver_of_cuda(std::string_view cuda);

// "V100 (Volta)", "a Pascal GPU (10de:1c03)", "the GPU 10de:ffff".
std::string name_of_device(uint16_t device_id);
// The last driver branch for the chip of this PCI device, "580"; empty: today's drivers still know it, or the
// chip is not known.
std::string last_branch_of_device(uint16_t device_id);

// "sm_120" → "12.8".
std::optional<std::string> least_cuda_of_capability(std::string_view capability);

}  // namespace pagoda::faults
