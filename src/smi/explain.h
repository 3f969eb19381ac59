// `--explain`: each column of the table, what it means, how it stands here, what to do about it.
#pragma once

#include <string>

#include "driver/gpu_snapshot.h"

namespace pagoda::smi {

std::string explanations(const driver::MachineSnapshot& machine);
std::string explanations_json(const driver::MachineSnapshot& machine);

}  // namespace pagoda::smi
