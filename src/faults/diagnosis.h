// From what was recognised to findings: one for each fault and GPU, rank or process, with its sentence.
#pragma once

#include <vector>

#include "faults/finding.h"
#include "faults/text_scanner.h"

namespace pagoda::faults {

// In the order in which they were first seen.
std::vector<Finding> find_faults(const Records& records);

// Fills the row's sentence from the finding's fields.
void word(Finding& finding);
// When it was first seen, among all events.
int64_t order_of(const Finding& finding);

}  // namespace pagoda::faults
