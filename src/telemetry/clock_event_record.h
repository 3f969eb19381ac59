// Why GPUs do not run at the clock asked for, over time: NVML's clock event reasons, one sample per
// collection. Not thread-safe: the collector's own.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string_view>

#include "base/clock.h"

namespace pagoda::telemetry {

// A reason by dcgm-exporter's name for it.
struct ClockEvent {
  std::uint64_t bit;
  std::string_view name;  // "hw_thermal"
};
std::span<const ClockEvent> clock_events();

class ClockEventRecord {
 public:
  explicit ClockEventRecord(std::chrono::milliseconds window) : window_(window) {}

  void add(unsigned gpu, std::uint64_t reasons, TimePoint when);
  // Samples of the window that had this reason.
  unsigned in_window(unsigned gpu, std::uint64_t bit, TimePoint now) const;
  // How often it began since the first sample; one that was on already then is not counted.
  std::uint64_t began(unsigned gpu, std::uint64_t bit) const;

 private:
  struct Sample {
    std::uint64_t reasons;
    TimePoint when;
  };
  struct GpuEvents {
    std::deque<Sample> samples;  // oldest first, of the window
    std::map<std::uint64_t, std::uint64_t> began;
  };

  std::chrono::milliseconds window_;
  std::map<unsigned, GpuEvents> gpus_;
};

}  // namespace pagoda::telemetry
