#include "telemetry/counters_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

constexpr size_t kParts = 3;

struct KindName {
  std::string_view name;
  CounterKind kind;
};
constexpr std::array kKinds{KindName{"gauge", CounterKind::kGauge},
                            KindName{"counter", CounterKind::kCounter},
                            KindName{"label", CounterKind::kLabel}};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Unexpected wrong(const std::string& source, int line, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, format("{}, line {}: {}", source, line, what));
}

// The text of a part that begins with a quote, up to the quote that closes it; two quotes are one. `rest` is
// left behind it. nullopt: it is never closed.
std::optional<std::string> take_quoted(std::string_view& rest) {
  std::string text;
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] != '"') {
      text += rest[i];
    } else if (i + 1 < rest.size() && rest[i + 1] == '"') {
      text += rest[i++];
    } else {
      rest.remove_prefix(i + 1);
      return text;
    }
  }
  return std::nullopt;
}

Result<std::vector<std::string>> split_line(std::string_view line, const std::string& source, int number) {
  std::vector<std::string> parts;
  for (;;) {
    std::string_view rest = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    std::string quoted;
    if (rest.starts_with('"')) {
      auto text = take_quoted(rest);
      if (!text) return wrong(source, number, "a quote is opened and not closed");
      quoted = *std::move(text);
    }
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view plain = trimmed(rest.substr(0, comma));
    if (!quoted.empty() && !plain.empty())
      return wrong(source, number, format("'{}' stands behind a closing quote", plain));
    parts.push_back(quoted.empty() ? std::string(plain) : quoted);
    if (comma == rest.size()) return parts;
    line = rest.substr(comma + 1);
  }
}

bool is_field_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), allowed);
}

Result<CounterLine> parse_line(std::string_view text, const std::string& source, int number) {
  PAGODA_ASSIGN(const std::vector<std::string> parts, split_line(text, source, number));
  if (parts.size() != kParts) {
    return wrong(source, number,
                 format("'{}' has {} parts; it takes three: NAME, type, help (a help text with commas in "
                        "quotes)",
                        trimmed(text), parts.size()));
  }
  if (!is_field_name(parts[0])) return wrong(source, number, format("'{}' is no field's name", parts[0]));
  const auto kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const KindName& k) { return k.name == parts[1]; });
  if (kind == kKinds.end())
    return wrong(source, number, format("type '{}' is none of gauge, counter, label", parts[1]));
  return CounterLine{number, parts[0], kind->kind, parts[2]};
}

}  // namespace

Result<std::vector<CounterLine>> parse_counters(std::string_view text, const std::string& source) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<CounterLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (trimmed(line).empty() || trimmed(line).starts_with('#')) continue;
    PAGODA_ASSIGN(CounterLine counter, parse_line(line, source, number));
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const CounterLine& other) { return other.name == counter.name; });
    if (same != lines.end())
      return wrong(source, number, format("{} stands already in line {}", counter.name, same->line));
    lines.push_back(std::move(counter));
  }
  if (lines.empty()) return fail(ErrorCode::kInvalidArgument, format("{} names no field", source));
  return lines;
}

Result<std::vector<CounterLine>> read_counters_file(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    return fail(ErrorCode::kNotFound,
                format("the counters file {} cannot be read: {}", path, std::strerror(errno)));
  }
  return parse_counters(text, path);
}

}  // namespace pagoda::telemetry
