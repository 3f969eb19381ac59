// CDI edits put into the config.json of an OCI bundle, and what the bundle says about GPUs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/cdi_spec.h"
#include "driver/host_root.h"

namespace pagoda::container {

// Adds variables, device nodes with their cgroup rules, mounts and hooks. `dev`: where device nodes are
// looked at for the numbers that the edits leave out. kNotFound: a node that is not there; kCorruptData:
// config.json's own form.
Status apply_edits(nlohmann::ordered_json& config, const CdiEdits& edits, const driver::HostRoot& dev);

// A variable of process.env; the last one wins.
std::optional<std::string> variable_of(const nlohmann::ordered_json& config, std::string_view name);

// Takes out hooks of NVIDIA's older way, which an engine put in (docker run --gpus); how many there were.
int remove_legacy_hooks(nlohmann::ordered_json& config);

}  // namespace pagoda::container
