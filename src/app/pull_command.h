// `pagoda pull ORG/NAME`: a model of a hub into the shared cache.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_pull_command(const Invocation& invocation);

}  // namespace pagoda::app
