// `pagoda --simulate NAME …`: from here on NVML is the simulated one, with that scenario.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::app {

// Checks the scenario (a name or a file) and sets the environment so that this process and its children load
// the simulated libnvidia-ml.so.1. To be called before threads start.
Status simulate_gpus(const std::string& scenario);

// Takes `--simulate NAME` (or --simulate=NAME) from before the subcommand; also acts on $PAGODA_SIMULATE, for
// links such as nvidia-smi, whose arguments are not ours. The arguments that are left come back.
Result<std::vector<const char*>> take_simulation(std::span<const char* const> argv);

// Whether NVML is the simulated one in this process.
bool gpus_are_simulated();

// The folder of the simulated libnvidia-ml.so.1: beside the program as built, or as installed.
Result<std::string> simulated_library_folder();

}  // namespace pagoda::app
