// Faults and other values laid over a scenario while clients use it: what `pagoda simulate` writes into the
// control file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::simulate {

// "0.temperature.gpu=95", "all.calls.nvmlDeviceGetPowerUsage=45", "system.driver_version=590.44.01"; the
// value in YAML, so also NOT_SUPPORTED or {line: [[0, 40], [60, 95]]}.
Status lay_over(const std::string& scenario, const std::vector<std::string>& assignments);
// An XID (NVML event) of that GPU, a moment from now, so that whoever waits meets it.
Status raise_xid(const std::string& scenario, unsigned gpu, unsigned xid);
// All that was laid over is taken back; settings and the clock stay.
Status clear_overlay(const std::string& scenario);
// As after a reboot: no settings, nothing laid over, time 0 at the next client.
Status restart(const std::string& scenario);

}  // namespace pagoda::simulate
