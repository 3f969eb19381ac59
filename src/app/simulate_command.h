// `pagoda simulate`: what can be simulated, other programs on it, and faults while they run.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {
int run_simulate_command(const Invocation& invocation);
}
