// What the lines of dmon and pmon have in common: date and time in front.
#pragma once

#include <string>
#include <utility>

#include "smi/monitor_columns.h"

namespace pagoda::smi {

// What stands before the two header lines.
std::pair<std::string, std::string> monitor_heads(const MonitorLayout& layout);
// What stands before a line.
std::string monitor_stamp(const MonitorLayout& layout, std::chrono::system_clock::time_point time);

}  // namespace pagoda::smi
