#include "app/json_pieces.h"

#include <nlohmann/json.hpp>

#include "app/flag_values.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

using Json = nlohmann::ordered_json;

void lay_over(Json& base, const Json& update) {
  if (base.is_object() && update.is_object()) {
    for (const auto& [key, value] : update.items()) {
      if (base.contains(key)) {
        lay_over(base[key], value);
      } else {
        base[key] = value;
      }
    }
  } else if (base.is_array() && update.is_array()) {
    base.insert(base.end(), update.begin(), update.end());
  } else {
    base = update;
  }
}

Json value_of(const std::string& text) {
  if (auto json = Json::parse(text, nullptr, false); !json.is_discarded()) return json;
  if (const auto number = human_integer(text)) return *number;
  return text;
}

Json list_of(const std::string& text) {
  Json list = Json::array();
  size_t begin = 0;
  while (true) {
    const size_t comma = text.find(',', begin);
    list.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) return list;
    begin = comma + 1;
  }
}

Result<Json> nested(const JsonPiece& piece) {
  std::string_view path = piece.path;
  const bool appends = path.ends_with('+');
  if (appends) path.remove_suffix(1);
  Json json = appends ? list_of(piece.value) : value_of(piece.value);
  while (true) {
    const size_t dot = path.rfind('.');
    const std::string key(dot == std::string_view::npos ? path : path.substr(dot + 1));
    if (key.empty()) return fail(ErrorCode::kInvalidArgument, format("'.{}' has an empty key", piece.path));
    Json object = Json::object();
    object[key] = std::move(json);
    json = std::move(object);
    if (dot == std::string_view::npos) return json;
    path = path.substr(0, dot);
  }
}

}  // namespace

Result<std::string> assemble_json(const std::vector<JsonPiece>& pieces) {
  const bool in_pieces =
      std::any_of(pieces.begin(), pieces.end(), [](const auto& p) { return !p.path.empty(); });
  std::string whole;
  for (const auto& piece : pieces) {
    if (piece.path.empty()) whole = piece.value;
  }
  if (!in_pieces) return whole;
  Json json = Json::object();
  if (!whole.empty()) {
    json = Json::parse(whole, nullptr, false);
    if (!json.is_object())
      return fail(ErrorCode::kInvalidArgument, format("'{}' is not a JSON object", whole));
  }
  for (const auto& piece : pieces) {
    if (piece.path.empty()) continue;
    PAGODA_ASSIGN(const Json update, nested(piece));
    lay_over(json, update);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace pagoda::app
