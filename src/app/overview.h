// `pagoda` alone: one screen of what it can do and what this machine has.
#pragma once

namespace pagoda::app {

void print_overview();
// `pagoda --help`: the subcommands and nothing of the machine.
void print_usage();

}  // namespace pagoda::app
