#include "telemetry/clock_event_record.h"

#include <algorithm>
#include <array>

namespace pagoda::telemetry {
namespace {

// nvmlClocksEventReason* of nvml.h; names as dcgm-exporter labels them.
constexpr std::array kEvents{
    ClockEvent{0x1, "gpu_idle"},    ClockEvent{0x2, "clocks_setting"},  ClockEvent{0x4, "power_cap"},
    ClockEvent{0x8, "hw_slowdown"}, ClockEvent{0x10, "sync_boost"},     ClockEvent{0x20, "sw_thermal"},
    ClockEvent{0x40, "hw_thermal"}, ClockEvent{0x80, "hw_power_brake"}, ClockEvent{0x100, "display_clocks"},
};

}  // namespace

std::span<const ClockEvent> clock_events() {
  return kEvents;
}

void ClockEventRecord::add(unsigned gpu, std::uint64_t reasons, TimePoint when) {
  GpuEvents& events = gpus_[gpu];
  if (!events.samples.empty()) {
    const std::uint64_t newly = reasons & ~events.samples.back().reasons;
    for (const ClockEvent& event : kEvents) {
      if (newly & event.bit) ++events.began[event.bit];
    }
  }
  events.samples.push_back({reasons, when});
  // The newest stays, however old: what begins is told from it.
  while (events.samples.size() > 1 && events.samples.front().when + window_ < when)
    events.samples.pop_front();
}

unsigned ClockEventRecord::in_window(unsigned gpu, std::uint64_t bit, TimePoint now) const {
  const auto found = gpus_.find(gpu);
  if (found == gpus_.end()) return 0;
  const auto& samples = found->second.samples;
  return static_cast<unsigned>(std::count_if(samples.begin(), samples.end(), [&](const Sample& sample) {
    return (sample.reasons & bit) != 0 && sample.when + window_ >= now;
  }));
}

std::uint64_t ClockEventRecord::began(unsigned gpu, std::uint64_t bit) const {
  const auto found = gpus_.find(gpu);
  if (found == gpus_.end()) return 0;
  const auto count = found->second.began.find(bit);
  return count == found->second.began.end() ? 0 : count->second;
}

}  // namespace pagoda::telemetry
