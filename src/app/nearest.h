// The known name that a mistyped one probably meant.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace pagoda::app {

// Insertions, deletions, substitutions and swaps of neighbours that turn `from` into `to`
// (optimal string alignment).
int edit_distance(std::string_view from, std::string_view to);

// The name of least distance, the first of several; nothing when even that one is too far to be meant
// (more than a third of the letters, at least 2, differ).
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> names);

}  // namespace pagoda::app
