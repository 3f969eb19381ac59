// A report for machines. The schema is documented in docs/doctor.md; fields are added, never renamed.
#pragma once

#include <string>

#include "faults/finding.h"

namespace pagoda::faults {

inline constexpr int kReportSchema = 1;

// Indented JSON, with a newline at its end.
std::string report_as_json(const Report& report);

}  // namespace pagoda::faults
