// A counters file of dcgm-exporter: which fields, in which order, as which kind of series. One field a line:
// `NAME, type, help`; `#` at the beginning of a line makes it a comment. Commas inside a help text need
// quotes, as in any CSV.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::telemetry {

enum class CounterKind {
  kGauge,
  kCounter,
  kLabel,  // no series: its value becomes a label of the others
};

struct CounterLine {
  int line = 0;  // in the file, from 1
  std::string name;
  CounterKind kind = CounterKind::kGauge;
  std::string help;
};

// kInvalidArgument: names the file, the line, and what would be right. `source` is only for messages.
Result<std::vector<CounterLine>> parse_counters(std::string_view text, const std::string& source);

// kNotFound where it cannot be read, with the system's reason.
Result<std::vector<CounterLine>> read_counters_file(const std::string& path);

}  // namespace pagoda::telemetry
