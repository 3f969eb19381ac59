// The log: one line per event on stderr, as text for people or JSON for machines. Thread-safe.
// Prompts, answers and keys are never logged by default; callers pass only what may be read.
#pragma once

#include <string_view>

#include "base/format.h"

namespace pagoda::log {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };
enum class Style { kText, kJson };

// Call once, before threads start.
void configure(Level level, Style style);
bool enabled(Level level);
void write(Level level, std::string_view message);

template <class... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::kDebug)) write(Level::kDebug, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::kInfo)) write(Level::kInfo, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void warning(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::kWarning)) write(Level::kWarning, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::kError)) write(Level::kError, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace pagoda::log
