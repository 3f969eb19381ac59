// `nvlink -s` (status and speed) and `nvlink -e` (error counters).
#pragma once

#include <string>

#include "driver/gpu_snapshot.h"

namespace pagoda::smi {

std::string nvlink_status(const driver::MachineSnapshot& machine);
std::string nvlink_errors(const driver::MachineSnapshot& machine);
std::string nvlink_json(const driver::MachineSnapshot& machine);

}  // namespace pagoda::smi
