#include "container/structured_text.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>

#include "base/format.h"

namespace pagoda::container {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kDeepest = 64;

Unexpected too_deep() {
  return fail(ErrorCode::kCorruptData, format("nested more than {} deep", kDeepest));
}

Json plain_scalar(const std::string& word) {
  if (word == "true" || word == "True" || word == "TRUE") return true;
  if (word == "false" || word == "False" || word == "FALSE") return false;
  if (word.empty() || word == "~" || word == "null" || word == "Null" || word == "NULL") return nullptr;
  int64_t number = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (fault == std::errc{} && end == word.data() + word.size()) return number;
  return word;
}

Result<Json> to_json(const YAML::Node& node, int depth) {
  if (depth > kDeepest) return too_deep();
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      return Json(nullptr);
    case YAML::NodeType::Scalar:
      return node.Tag() == "!" ? Json(node.Scalar()) : plain_scalar(node.Scalar());
    case YAML::NodeType::Sequence: {
      Json list = Json::array();
      for (const auto& item : node) {
        PAGODA_ASSIGN(auto value, to_json(item, depth + 1));
        list.push_back(std::move(value));
      }
      return list;
    }
    case YAML::NodeType::Map: {
      Json map = Json::object();
      for (const auto& item : node) {
        if (!item.first.IsScalar()) return fail(ErrorCode::kCorruptData, "a key that is no text");
        const std::string key = item.first.Scalar();
        if (map.contains(key)) {
          return fail(ErrorCode::kCorruptData,
                      format("line {}: '{}' stands there twice", item.first.Mark().line + 1, key));
        }
        PAGODA_ASSIGN(map[key], to_json(item.second, depth + 1));
      }
      return map;
    }
  }
  return Json(nullptr);
}

bool safe_plain(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !(letter(text[0]) || text[0] == '/') || text.back() == ':') return false;
  for (const char c : text) {
    if (!letter(c) && !(c >= '0' && c <= '9') &&
        std::string_view("/._=:+-@").find(c) == std::string_view::npos)
      return false;
  }
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const auto* word : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}) {
    if (lower == word) return false;
  }
  return true;
}

std::string scalar_text(const Json& value) {
  if (value.is_string() && safe_plain(value.get_ref<const std::string&>())) return value.get<std::string>();
  // JSON's quoting is YAML's double-quoted style. Bytes that are no UTF-8 become U+FFFD.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write_yaml(const Json& value, int indent, bool in_list, std::string& text) {
  const std::string space(static_cast<size_t>(indent), ' ');
  if (value.is_object() && !value.empty()) {
    bool first = true;
    for (const auto& [key, item] : value.items()) {
      text += first && in_list ? "" : space;
      first = false;
      text += scalar_text(key) + ":";
      const bool block = (item.is_object() || item.is_array()) && !item.empty();
      if (!block) {
        text += " " + scalar_text(item) + "\n";
        continue;
      }
      text += "\n";
      write_yaml(item, item.is_array() ? indent : indent + 2, false, text);
    }
    return;
  }
  for (const auto& item : value) {
    text += space + "- ";
    if (item.is_object() && !item.empty()) {
      write_yaml(item, indent + 2, true, text);
    } else {
      text += scalar_text(item) + "\n";
    }
  }
}

// nlohmann's parser descends by recursion only in our own copy; its depth is bounded here first.
bool deeper_than_allowed(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDeepest) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> parse_yaml(std::string_view text) {
  if (deeper_than_allowed(text)) return too_deep();
  try {
    return to_json(YAML::Load(std::string(text)), 0);
  } catch (const YAML::Exception& fault) {
    return fail(ErrorCode::kCorruptData,
                format("line {}, column {}: {}", fault.mark.line + 1, fault.mark.column + 1, fault.msg));
  }
}

Result<Json> parse_json(std::string_view text) {
  if (deeper_than_allowed(text)) return too_deep();
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& fault) {
    std::string_view why = fault.what();
    if (const size_t dash = why.find(" - "); dash != std::string_view::npos) why.remove_prefix(dash + 3);
    return fail(ErrorCode::kCorruptData,
                format("{}: {}", place_in(text, fault.byte == 0 ? 0 : fault.byte - 1), why));
  }
}

std::string yaml_text(const Json& value) {
  std::string text;
  write_yaml(value, 0, false, text);
  return text;
}

std::string place_in(std::string_view text, size_t byte) {
  byte = std::min(byte, text.size());
  const auto before = text.substr(0, byte);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return format("line {}, column {}", line, byte - start + 1);
}

}  // namespace pagoda::container
