// `topo -m`: how near GPUs, CPUs and memory are to each other.
#pragma once

#include <string>
#include <vector>

#include "driver/gpu_snapshot.h"

namespace pagoda::smi {

std::string topology_matrix(const driver::MachineSnapshot& machine);
std::string topology_json(const driver::MachineSnapshot& machine);

// {0, 1, 2, 5} → "0-2,5".
std::string number_ranges(const std::vector<unsigned>& numbers);
// "NV18", "PIX", "SYS"; " X " of a GPU and itself; "N/A" where it could not be read.
std::string nearness_word(const driver::MachineSnapshot& machine, size_t from, size_t to);

}  // namespace pagoda::smi
