// `pagoda driver stack`: floor by floor what is found, and what does not fit.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_driver_stack(const Invocation& invocation);

}  // namespace pagoda::app
