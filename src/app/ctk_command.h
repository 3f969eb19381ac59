// `pagoda ctk`, a drop-in for nvidia-ctk; and the links nvidia-container-cli, nvidia-container-runtime-hook
// and nvidia-cdi-hook.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_ctk_command(const Invocation& invocation);

}  // namespace pagoda::app
