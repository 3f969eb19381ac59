// What to do about a story: the remedies of its findings, each once, in the order of doing.
#pragma once

#include <vector>

#include "faults/finding.h"

namespace pagoda::faults {

std::vector<Action> actions_of(const std::vector<Finding>& findings);

}  // namespace pagoda::faults
