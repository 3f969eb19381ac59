// The time that a log line states, in whichever of the usual forms.
#pragma once

#include <string_view>

namespace pagoda::faults {

struct LineTime {
  enum class Clock {
    kNone,
    kBoot,  // seconds since boot: "[ 8123.104511]"
    kWall,  // seconds since the year began, as far as the line says; the zone is the writer's
  };
  Clock clock = Clock::kNone;
  double seconds = 0;
  int boot = 0;           // which boot of the log, counted by clocks that went back; set by the reader
  std::string_view text;  // within the line
};

// Looks at the beginning of the line: kernel stamps, dmesg -T, journal and syslog, ISO 8601, glog
// ("E1130 09:12:00.120"), vLLM ("INFO 11-30 09:12:00").
LineTime time_of_line(std::string_view line);

// Whether two times can lie within `window_s` of each other. Different clocks cannot be compared: then true.
bool may_be_near(const LineTime& a, const LineTime& b, double window_s);

}  // namespace pagoda::faults
