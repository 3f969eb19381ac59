// What is well, in words: what each GPU is doing, and how fast.
#pragma once

#include <vector>

#include "faults/finding.h"
#include "faults/machine_record.h"

namespace pagoda::faults {

// One for each group of GPUs of which the same can be said. `stories` decide whether "healthy" may be said.
std::vector<Observation> observe(const MachineRecord& machine, const std::vector<Story>& stories);

}  // namespace pagoda::faults
