#include "telemetry/health_window.h"

namespace pagoda::telemetry {
namespace {

constexpr std::chrono::seconds kWindow(60);

}  // namespace

std::vector<std::vector<Incident>> HealthWindow::check(const GpuSample& sample,
                                                       const std::vector<XidEvent>& xids, TimePoint now) {
  const std::int64_t time_us =
      std::chrono::duration_cast<std::chrono::microseconds>(sample.machine.time.time_since_epoch()).count();
  std::vector<std::vector<Incident>> incidents;
  for (size_t gpu = 0; gpu < sample.machine.gpus.size(); ++gpu) {
    const EntityReadings readings{sample, gpu, std::nullopt};
    const unsigned index = sample.machine.gpus[gpu].index;
    const auto found = before_.find(index);
    const HealthBaseline* const before = found == before_.end() ? nullptr : &found->second.baseline;
    incidents.push_back(check_health(readings, kJudgedHealth, before, time_us, xids));
    if (before == nullptr || found->second.taken + kWindow <= now)
      before_[index] = {health_baseline(readings, time_us), now};
  }
  return incidents;
}

}  // namespace pagoda::telemetry
