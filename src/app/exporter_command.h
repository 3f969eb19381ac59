// `pagoda exporter`: GPU metrics for Prometheus, under dcgm-exporter's names.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {
int run_exporter_command(const Invocation& invocation);
}
