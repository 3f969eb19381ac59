// `pagoda driver install`: plans, shows, does, and takes back.
#pragma once

#include <string>

#include "app/subcommands.h"
#include "driver/host_root.h"

namespace pagoda::app {

int run_driver_install(const Invocation& invocation);

// What an installation that did not end left behind, in words; empty: none was cut off.
std::string unfinished_install(const driver::HostRoot& root);

}  // namespace pagoda::app
