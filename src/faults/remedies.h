// What to do, by key: fault rows name these, so that one story says a thing once.
#pragma once

#include <span>
#include <string_view>

namespace pagoda::faults {

struct Remedy {
  std::string_view key;
  std::string_view text;     // a template (fields.h)
  std::string_view command;  // a template; empty: nothing to type. Several lines are several commands
};

std::span<const Remedy> remedies();
// nullptr: no such key.
const Remedy* find_remedy(std::string_view key);

}  // namespace pagoda::faults
