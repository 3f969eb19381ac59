// Every key that a scenario may hold: one row each (or a family in braces), with its unit and the NVML call
// that answers it. A key that is not here is a typo; one that no scenario gives is NVML_ERROR_NOT_SUPPORTED,
// as on a real card.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda::simulate {

enum class KeyKind {
  kNumber,
  kText,
  kList,  // a sequence of mappings, whose keys are rows of their own: "processes.pid" of list "processes"
};

struct KeyRow {
  std::string_view pattern;  // "clocks.{current,max}.{sm,memory}"; a last part "*" takes any name
  KeyKind kind;
  std::string_view unit;    // as NVML has it: "mW", "bytes", "0/1", an enum's name; empty for texts and lists
  std::string_view source;  // the NVML call or field that answers it, or what it does
};

// A family's rows stand one after the other; for listings.
std::span<const KeyRow> key_rows();

// The row of a key that is written out, or null.
const KeyRow* find_key(std::string_view key);
// True where `prefix` is the beginning of some key, up to a dot.
bool is_key_prefix(std::string_view prefix);
// All keys, families written out; those ending in "*" as they stand.
const std::vector<std::string>& all_keys();

// The nearest known key, for messages; empty when none is near.
std::string nearest_key(std::string_view key);

}  // namespace pagoda::simulate
