// Reading one part of a tokenizer.json: {"type": "...", its settings}.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"

namespace pagoda::text {

using Json = nlohmann::json;

// Null where there is no such key; never a copy.
inline const Json& json_child(const Json& object, std::string_view key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

inline std::string json_text(const Json& object, std::string_view key, std::string otherwise = {}) {
  const Json& value = json_child(object, key);
  return value.is_string() ? value.get<std::string>() : std::move(otherwise);
}

inline bool json_flag(const Json& object, std::string_view key, bool otherwise) {
  const Json& value = json_child(object, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

inline int64_t json_integer(const Json& object, std::string_view key, int64_t otherwise) {
  const Json& value = json_child(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : otherwise;
}

// "tokenizer.json: the normalizer is not supported: {…}"
inline Unexpected unsupported_part(std::string_view kind, const Json& part) {
  std::string text = part.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 160) text = text.substr(0, 160) + "…";
  return fail(ErrorCode::kUnsupported, format("tokenizer.json: the {} is not supported: {}", kind, text));
}

}  // namespace pagoda::text
