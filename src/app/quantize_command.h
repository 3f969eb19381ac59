// `pagoda quantize`: a smaller model file from a 16-bit one.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_quantize_command(const Invocation& invocation);

}  // namespace pagoda::app
