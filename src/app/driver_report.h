// A machine's facts and findings as text for people and as JSON for scripts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/terminal.h"
#include "driver/host_findings.h"

namespace pagoda::app {

std::string driver_report_text(const driver::HostFacts& facts, const std::vector<driver::Finding>& findings,
                               const Paint& paint);
nlohmann::ordered_json driver_report_json(const driver::HostFacts& facts,
                                          const std::vector<driver::Finding>& findings);

}  // namespace pagoda::app
