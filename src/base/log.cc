#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

namespace pagoda::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

spdlog::logger& logger() {
  static spdlog::logger instance("pagoda", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  return instance;
}

Style g_style = Style::kText;

std::string json_escaped(std::string_view text) {
  std::string out;
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

}  // namespace

void configure(Level level, Style style) {
  g_style = style;
  logger().set_level(to_spdlog(level));
  logger().set_pattern(style == Style::kJson
                           ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":"%v"})"
                           : "%^%L%$ %H:%M:%S.%e %v");
}

bool enabled(Level level) {
  return logger().should_log(to_spdlog(level));
}

void write(Level level, std::string_view message) {
  if (g_style == Style::kJson) {
    logger().log(to_spdlog(level), json_escaped(message));
  } else {
    logger().log(to_spdlog(level), message);
  }
}

}  // namespace pagoda::log
