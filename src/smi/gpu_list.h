// `-L`: one line per GPU, one per MIG device below it.
#pragma once

#include <string>

#include "driver/gpu_snapshot.h"

namespace pagoda::smi {

// "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)", without a line end; also the head of nvlink's reports.
std::string gpu_line(const driver::GpuSnapshot& gpu);
std::string gpu_list(const driver::MachineSnapshot& machine);
std::string gpu_list_json(const driver::MachineSnapshot& machine);

}  // namespace pagoda::smi
