// `pagoda inspect MODEL`: what a model is and what it will take, without loading it.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_inspect_command(const Invocation& invocation);

}  // namespace pagoda::app
