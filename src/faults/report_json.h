// A report for machines. The schema is documented in docs/doctor.md; fields are added, never renamed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "faults/finding.h"

namespace pagoda::faults {

inline constexpr int kReportSchema = 1;

// Indented JSON, with a newline at its end.
std::string report_as_json(const Report& report);
// One story, as it stands in a report.
nlohmann::ordered_json story_as_json(const Story& story);

}  // namespace pagoda::faults
