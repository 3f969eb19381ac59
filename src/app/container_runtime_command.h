// `pagoda container-runtime`, also as nvidia-container-runtime: the OCI runtime wrapper.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_container_runtime_command(const Invocation& invocation);

}  // namespace pagoda::app
