// Which trouble causes which: what makes one story of several findings.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "faults/finding.h"

namespace pagoda::faults {

// For each finding the place of the one that caused it; nothing: it is a root.
std::vector<std::optional<size_t>> find_causes(const std::vector<Finding>& findings);

}  // namespace pagoda::faults
