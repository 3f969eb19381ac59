// Findings → stories: one cause, its consequences, and what to do about them together.
#pragma once

#include <vector>

#include "faults/finding.h"
#include "faults/text_scanner.h"

namespace pagoda::faults {

// Worst first; of equals the surer, then the earlier.
std::vector<Story> tell_stories(std::vector<Finding> findings, const Records& records);

}  // namespace pagoda::faults
