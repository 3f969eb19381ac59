// YAML and JSON as one kind of value. Numbers, true, false and null of YAML are recognised where they are
// plain; what stands in quotes is text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::container {

// kCorruptData with line and column. Nested at most 64 deep.
Result<nlohmann::ordered_json> parse_yaml(std::string_view text);
Result<nlohmann::ordered_json> parse_json(std::string_view text);

// Block style, two spaces; texts that another reader could take for something else are quoted.
std::string yaml_text(const nlohmann::ordered_json& value);

// "line 3, column 7" of a byte in a text.
std::string place_in(std::string_view text, size_t byte);

}  // namespace pagoda::container
