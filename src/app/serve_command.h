// `pagoda serve`: flags, the model's file, then serve().
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {
int run_serve_command(const Invocation& invocation);
}
