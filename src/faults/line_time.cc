#include "faults/line_time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace pagoda::faults {
namespace {

constexpr size_t kSearched = 80;  // bytes of a line in which a stamp may begin

bool digit(char c) {
  return c >= '0' && c <= '9';
}

// Digits of `text` at `at` by the pattern: 'd' a digit, '_' a digit or a space, anything else itself.
bool matches(std::string_view text, size_t at, std::string_view pattern) {
  if (at + pattern.size() > text.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = text[at + i];
    const bool fits = pattern[i] == 'd'   ? digit(c)
                      : pattern[i] == '_' ? digit(c) || c == ' '
                                          : c == pattern[i];
    if (!fits) return false;
  }
  return true;
}

int number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double time_of_day(std::string_view text, size_t at) {  // "09:12:00[.123]" or ",123"
  double seconds = number(text.substr(at, 2)) * 3600.0 + number(text.substr(at + 3, 2)) * 60.0 +
                   number(text.substr(at + 6, 2));
  size_t i = at + 8;
  if (i < text.size() && (text[i] == '.' || text[i] == ',')) {
    double unit = 0.1;
    for (++i; i < text.size() && digit(text[i]) && unit > 1e-10; ++i, unit /= 10)
      seconds += (text[i] - '0') * unit;
  }
  return seconds;
}

double day_of_year(int month, int day) {
  constexpr std::array kBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  return month >= 1 && month <= 12 ? kBefore[static_cast<size_t>(month - 1)] + day : day;
}

int month_of(std::string_view name) {
  constexpr std::string_view kNames = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const size_t at = kNames.find(name);
  return at == std::string_view::npos || at % 3 != 0 ? 0 : static_cast<int>(at / 3) + 1;
}

// A form of stamp: where month, day and time of day stand in it.
struct Form {
  std::string_view pattern;
  size_t month, day, time;
};
constexpr std::array kForms = {
    Form{"dddd-dd-ddTdd:dd:dd", 5, 8, 11}, Form{"dddd-dd-dd dd:dd:dd", 5, 8, 11},
    Form{"dddd/dd/dd dd:dd:dd", 5, 8, 11}, Form{"dd-dd dd:dd:dd", 0, 3, 6},
    Form{"dddd dd:dd:dd", 0, 2, 5},
};

LineTime wall(std::string_view line, size_t at, size_t length, double day, size_t time_at) {
  size_t end = at + length;
  if (end < line.size() && (line[end] == '.' || line[end] == ',')) {
    for (++end; end < line.size() && digit(line[end]);) ++end;
  }
  LineTime result;
  result.clock = LineTime::Clock::kWall;
  result.seconds = day * 86400 + time_of_day(line, time_at);
  result.text = line.substr(at, end - at);
  return result;
}

LineTime boot_stamp(std::string_view line) {  // "[ 8123.104511]"
  LineTime result;
  const size_t close = line.substr(0, 24).find(']');
  if (close == std::string_view::npos) return result;
  std::string_view inside = line.substr(1, close - 1);
  while (!inside.empty() && inside.front() == ' ') inside.remove_prefix(1);
  const size_t point = inside.find('.');
  if (point == std::string_view::npos || point == 0 || point + 1 == inside.size()) return result;
  double value = 0;
  const auto parsed = std::from_chars(inside.data(), inside.data() + inside.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != inside.data() + inside.size() || !std::isfinite(value))
    return result;
  result.clock = LineTime::Clock::kBoot;
  result.seconds = value;
  result.text = inside;
  return result;
}

}  // namespace

LineTime time_of_line(std::string_view line) {
  line = line.substr(0, kSearched + 40);
  size_t start = 0;
  if (line.starts_with('<')) {  // "<4>[ 8123.1…]": the kernel's priority
    const size_t close = line.substr(0, 6).find('>');
    if (close != std::string_view::npos) start = close + 1;
  }
  if (start < line.size() && line[start] == '[') {
    LineTime boot = boot_stamp(line.substr(start));
    if (boot.clock != LineTime::Clock::kNone) return boot;
  }
  for (size_t at = start; at < std::min(line.size(), kSearched); ++at) {
    if (at > 0 && digit(line[at - 1])) continue;
    // "Nov 30 09:12:00", also after a weekday: "[Mon Nov 30 09:12:00 2026]".
    if (matches(line, at + 3, " _d dd:dd:dd")) {
      const int month = month_of(line.substr(at, 3));
      if (month > 0) return wall(line, at, 15, day_of_year(month, number(line.substr(at + 4, 2))), at + 7);
    }
    if (!digit(line[at])) continue;
    for (const Form& form : kForms) {
      if (!matches(line, at, form.pattern)) continue;
      const double day =
          day_of_year(number(line.substr(at + form.month, 2)), number(line.substr(at + form.day, 2)));
      return wall(line, at, form.pattern.size(), day, at + form.time);
    }
  }
  return {};
}

bool may_be_near(const LineTime& a, const LineTime& b, double window_s) {
  if (a.clock == LineTime::Clock::kNone || b.clock == LineTime::Clock::kNone || a.clock != b.clock)
    return true;
  if (a.clock == LineTime::Clock::kBoot && a.boot != b.boot) return false;
  return std::abs(a.seconds - b.seconds) <= window_s;
}

}  // namespace pagoda::faults
