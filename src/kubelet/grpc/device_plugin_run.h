// The device plugin from its start to SIGTERM.
#pragma once

#include "base/result.h"
#include "kubelet/device_plugin_options.h"

namespace pagoda::kubelet {

// Blocks SIGTERM and SIGINT, which end it; to be called before threads start. Waits for a kubelet that is not
// there yet, and registers anew with each one that starts. Error: no devices, or a kubelet that refuses.
Status run_device_plugin(const DevicePluginOptions& options);

}  // namespace pagoda::kubelet
