#include "driver/version_number.h"

#include <algorithm>
#include <charconv>

namespace pagoda::driver {
namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::optional<VersionNumber> VersionNumber::parse(std::string_view text) {
  VersionNumber version;
  version.text_ = text;
  while (true) {
    const size_t dot = std::min(text.find('.'), text.size());
    const std::string_view group = text.substr(0, dot);
    int value = 0;
    const auto [end, fault] = std::from_chars(group.data(), group.data() + group.size(), value);
    if (fault != std::errc{} || end != group.data() + group.size() || value < 0) return std::nullopt;
    version.parts_.push_back(value);
    if (version.parts_.size() > 6) return std::nullopt;
    if (dot == text.size()) return version;
    text.remove_prefix(dot + 1);
  }
}

std::optional<VersionNumber> VersionNumber::find_in(std::string_view text) {
  for (size_t start = 0; start < text.size(); ++start) {
    if (!digit(text[start]) || (start > 0 && (digit(text[start - 1]) || text[start - 1] == '.'))) continue;
    size_t end = start;
    while (end < text.size() && (digit(text[end]) || text[end] == '.')) ++end;
    while (end > start && text[end - 1] == '.') --end;
    const std::string_view word = text.substr(start, end - start);
    if (word.find('.') == std::string_view::npos) continue;
    if (auto version = parse(word)) return version;
  }
  return std::nullopt;
}

std::strong_ordering VersionNumber::operator<=>(const VersionNumber& other) const {
  for (size_t i = 0; i < std::max(parts_.size(), other.parts_.size()); ++i) {
    if (const auto order = part(i) <=> other.part(i); order != 0) return order;
  }
  return std::strong_ordering::equal;
}

}  // namespace pagoda::driver
