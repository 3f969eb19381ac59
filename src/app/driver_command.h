// `pagoda driver`: check, recommend, install, verify, stack; and `ubuntu-drivers devices`.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_driver_command(const Invocation& invocation);

}  // namespace pagoda::app
