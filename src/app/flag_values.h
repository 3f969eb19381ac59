// Setters: from the text of a flag's value to a field, with the range checked. The fields outlive the table.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/flags.h"

namespace pagoda::app {

// Whole numbers as vLLM writes them: 25.6k is 25,600, 1K is 1,024 (k m g t: powers of 1,000, also with
// decimals; K M G T: powers of 1,024, whole only).
Result<int64_t> human_integer(const std::string& text);

struct IntegerRange {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
};
struct NumberRange {
  double above = -std::numeric_limits<double>::infinity();  // exclusive
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

Setter to_switch(bool* field);
Setter to_inverted_switch(bool* field);  // --disable-X
Setter to_text(std::string* field);
Setter to_texts(std::vector<std::string>* field);  // none empty; or one JSON list of texts
Setter to_integer(int* field, IntegerRange range);
Setter to_integer(int64_t* field, IntegerRange range);
Setter to_optional_integer(std::optional<int>* field, IntegerRange range);
Setter to_seed(uint64_t* field);
Setter to_human_integer(int64_t* field, IntegerRange range);
Setter to_number(double* field, NumberRange range);
Setter to_json_object(nlohmann::ordered_json* field);

// One of a list of names. Several names may stand for one value.
template <class T>
Setter to_choice(T* field, std::vector<std::pair<std::string_view, T>> choices) {
  return [field, choices = std::move(choices)](std::span<const std::string> values) -> Status {
    std::string names;
    for (const std::string& value : values) {
      bool found = false;
      names.clear();
      for (const auto& [name, meaning] : choices) {
        names += (names.empty() ? "" : ", ") + std::string(name);
        if (value != name) continue;
        *field = meaning;
        found = true;
      }
      if (!found) return fail(ErrorCode::kInvalidArgument, "'" + value + "' is none of " + names);
    }
    return {};
  };
}

}  // namespace pagoda::app
