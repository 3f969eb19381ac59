// A request's body → JSON, where the body is a stranger's: bounded in depth, in values and in the work that
// its objects' keys can cause; a fault is named with its line and column.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.h"

namespace pagoda::api {

using Json = nlohmann::ordered_json;

inline constexpr int kMaxJsonDepth = 200;
inline constexpr int64_t kMaxJsonValues = 2'000'000;
// Keys of one object are found by walking it: the sum over all objects of keys²/2 is what a body may cost.
inline constexpr int64_t kMaxJsonKeyComparisons = 50'000'000;

// kInvalidArgument for malformed JSON, invalid UTF-8, lone surrogates, numbers that do not fit, and what is
// past the bounds above.
Result<Json> parse_json(std::string_view body);
// The same, and the value must be an object.
Result<Json> parse_json_object(std::string_view body);

// "a string", "an array", …: for messages.
std::string_view json_type_name(const Json& value);

}  // namespace pagoda::api
