// Which trouble causes which: what makes one story of several findings.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "faults/finding.h"

namespace pagoda::faults {

// For each finding the place of the one that caused it; nothing: it is a root.
std::vector<std::optional<size_t>> find_causes(const std::vector<Finding>& findings);

// Whether a port's address (with function) lies where a port above the GPU (without) would: same domain, no
// higher bus.
bool may_be_upstream(std::string_view port, std::string_view gpu);

}  // namespace pagoda::faults
