// Health of the GPUs over the last minute or so, for a program that runs for months: counters are compared
// with those of a while ago, not with those of its beginning. Not thread-safe: the collector's own.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "base/clock.h"
#include "telemetry/health_check.h"

namespace pagoda::telemetry {

// The systems that are judged; of the others (PMU, MCU, SM) nothing is said.
inline constexpr unsigned kJudgedHealth = kPcieHealth | kNvLinkHealth | kMemoryHealth | kInforomHealth |
                                          kThermalHealth | kPowerHealth | kDriverHealth;

class HealthWindow {
 public:
  // GPU by GPU of the sample. `xids`: the recent ones of all GPUs.
  std::vector<std::vector<Incident>> check(const GpuSample& sample, const std::vector<XidEvent>& xids,
                                           TimePoint now);

 private:
  struct Before {
    HealthBaseline baseline;
    TimePoint taken;
  };
  std::map<unsigned, Before> before_;  // by NVML's index
};

}  // namespace pagoda::telemetry
