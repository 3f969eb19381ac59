// `pagoda doctor`: from symptom to root cause and remedy, on this machine or on what people collected.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {
int run_doctor_command(const Invocation& invocation);
}
