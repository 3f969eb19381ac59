// `pagoda plan`: will a model fit on these devices, and what does when it does not.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_plan_command(const Invocation& invocation);

}  // namespace pagoda::app
