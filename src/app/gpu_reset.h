// Starting a GPU anew, by whoever can: NVML has no public call for it.
#pragma once

#include <optional>
#include <string>

#include "driver/nvml_gpu.h"

namespace pagoda::app {

// Empty: done. Otherwise why not, one sentence. Simulated GPUs have a call of their own; a real one is reset
// by the driver's nvidia-smi, which must be on the PATH and may want root.
std::optional<std::string> reset_gpu(const driver::Gpu& gpu);

}  // namespace pagoda::app
