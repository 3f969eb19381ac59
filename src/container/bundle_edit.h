// The container runtime's own work: a bundle's request for GPUs, turned into edits of its config.json.
#pragma once

#include <string>

#include "container/toolkit_config.h"

namespace pagoda::container {

// Reads BUNDLE/config.json, adds what it asks for, and replaces it whole; a bundle that asks for nothing is
// left byte for byte as it is. `hook_path`: the static hook, absolute. Errors: a device that is not there, an
// unmet requirement, no driver, a config.json that is none.
Status edit_bundle(const std::string& bundle, const ToolkitConfig& config, const std::string& hook_path);

}  // namespace pagoda::container
