// A doctor's report as text for people.
#pragma once

#include <string>

#include "app/terminal.h"
#include "faults/finding.h"

namespace pagoda::app {

// `width`: columns to wrap at.
std::string report_as_text(const faults::Report& report, const Paint& paint, int width);

}  // namespace pagoda::app
