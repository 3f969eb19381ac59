// `pagoda smi`, and what a link named nvidia-smi does. Exit codes are NVML's return codes, errors go to
// standard output, as those of the tool it stands in for.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_smi_command(const Invocation& invocation);

}  // namespace pagoda::app
