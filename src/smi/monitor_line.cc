#include "smi/monitor_line.h"

#include <ctime>

#include "base/format.h"

namespace pagoda::smi {
namespace {

std::string local(std::chrono::system_clock::time_point time, const char* form) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char buffer[32];
  return {buffer, std::strftime(buffer, sizeof(buffer), form, &parts)};
}

}  // namespace

Result<std::string> read_metric_groups(std::string_view letters, std::string_view known) {
  std::string groups;
  for (const char letter : letters) {
    if (known.find(letter) == std::string_view::npos) {
      return fail(ErrorCode::kInvalidArgument,
                  format("Metric group '{}' is not known; the letters of -s are {}.", letter, known), "s");
    }
    if (groups.find(letter) == std::string::npos) groups += letter;
  }
  return groups;
}

std::pair<std::string, std::string> monitor_heads(const MonitorLayout& layout) {
  std::string names, units;
  if (layout.date) {
    names += "#Date       ";
    units += "#YYYYMMDD   ";
  }
  if (layout.time) {
    names += "#Time       ";
    units += "#HH:MM:SS   ";
  }
  return {names, units};
}

std::string monitor_stamp(const MonitorLayout& layout, std::chrono::system_clock::time_point time) {
  std::string stamp;
  if (layout.date) stamp += format(" {:<11}", local(time, "%Y%m%d"));
  if (layout.time) stamp += format(" {:<11}", local(time, "%H:%M:%S"));
  return stamp;
}

}  // namespace pagoda::smi
