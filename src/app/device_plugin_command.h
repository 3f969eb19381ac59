// `pagoda device-plugin`: offers the node's GPUs to the kubelet.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {

int run_device_plugin_command(const Invocation& invocation);

}  // namespace pagoda::app
