#include "faults/fields.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

namespace pagoda::faults {
namespace {

// Appends `text` with its fields; false when one of them is missing.
bool append(std::string_view text, const Fields& fields, std::string& out) {
  bool complete = true;
  while (!text.empty()) {
    const size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const size_t close = text.find('}', open);
    if (close == std::string_view::npos) break;
    const std::string_view value = fields.get(text.substr(open + 1, close - open - 1));
    complete = complete && !value.empty();
    out += value.empty() ? "?" : value;
    text.remove_prefix(close + 1);
  }
  return complete;
}

}  // namespace

std::string_view lasting_name(std::string_view text) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  const std::scoped_lock lock(mutex);
  return *names.emplace(text).first;
}

void Fields::set(std::string_view name, std::string value) {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [&](const auto& f) { return f.first == name; });
  if (value.empty()) {
    if (found != values_.end()) values_.erase(found);
  } else if (found != values_.end()) {
    found->second = std::move(value);
  } else {
    if (values_.empty()) values_.reserve(8);
    values_.emplace_back(name, std::move(value));
  }
}

std::string_view Fields::get(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return {};
}

void Fields::add_missing(const Fields& other) {
  for (const auto& [name, value] : other.values_) {
    if (!has(name)) values_.emplace_back(name, value);
  }
}

std::string fill(std::string_view text, const Fields& fields) {
  std::string out;
  while (!text.empty()) {
    const size_t open = text.find('[');
    append(text.substr(0, open), fields, out);
    if (open == std::string_view::npos) break;
    const size_t close = text.find(']', open);
    if (close == std::string_view::npos) break;
    std::string part;
    if (append(text.substr(open + 1, close - open - 1), fields, part)) out += part;
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace pagoda::faults
