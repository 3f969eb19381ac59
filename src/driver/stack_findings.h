// Layers that do not fit each other: CUDA against driver and chip, libraries against frameworks.
#pragma once

#include <optional>
#include <vector>

#include "driver/host_findings.h"
#include "driver/stack_components.h"

namespace pagoda::driver {

// Empty: everything fits.
std::vector<Finding> judge_stack(const HostFacts& facts, const std::vector<StackComponent>& components);

// The CUDA releases that have code for a chip: 0 where there is no limit yet.
struct ChipCuda {
  VersionNumber least;  // "12.8" of sm_100
  int last_major = 0;   // 12 of Volta
};
ChipCuda cuda_of_chip(const Chip& chip);
// Of a compute capability (9, 0); nullopt: not in the table.
std::optional<ChipCuda> cuda_of_capability(int major, int minor);

}  // namespace pagoda::driver
