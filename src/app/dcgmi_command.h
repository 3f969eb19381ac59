// `pagoda dcgmi`: a drop-in for dcgmi, without DCGM's daemon.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_dcgmi_command(const Invocation& invocation);

}  // namespace pagoda::app
