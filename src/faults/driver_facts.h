// Facts of NVIDIA's releases as the doctor asks for them; the table of CUDA releases is the driver floor's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pagoda::faults {

// "12.4" → "550.54.14"; an unknown later minor of a known major → that of the last one known below it.
std::optional<std::string_view> least_driver_of_cuda(std::string_view cuda);

struct GpuGeneration {
  std::string_view name;         // "Volta"
  uint16_t first, last;          // PCI device ids
  bool has_gsp;                  // which the open kernel module needs
  std::string_view last_branch;  // of drivers for it; empty: still supported
};
// nullptr: not known.
const GpuGeneration* generation_of_device(uint16_t device_id);
// "V100 (Volta)", "a Pascal GPU (10de:1c03)", "the GPU 10de:ffff".
std::string name_of_device(uint16_t device_id);

// "sm_120" → "12.8".
std::optional<std::string_view> least_cuda_of_capability(std::string_view capability);

// Compares "550.54.14" and "550.100" part by part: <0, 0, >0.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace pagoda::faults
