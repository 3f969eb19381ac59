#include "faults/load_window.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <thread>

#include "driver/gpu_snapshot_reader.h"
#include "driver/nvml_gpm.h"
#include "faults/live_readings.h"

namespace pagoda::faults {
namespace {

using namespace std::chrono;
using driver::GpuSnapshot;
using enum Quantity;

// All that a rule judges; what only people read (clocks, profiles, sessions) is left out.
constexpr unsigned kFullSections =
    driver::kIdentitySection | driver::kPciSection | driver::kModesSection | driver::kClockEventsSection |
    driver::kMemorySection | driver::kUtilizationSection | driver::kEccSection | driver::kRetiredSection |
    driver::kRemappedSection | driver::kTemperatureSection | driver::kPowerSection | driver::kFabricSection |
    driver::kNvLinkSection | driver::kProcessesSection | driver::kPerformanceSection;
constexpr unsigned kLoadSections = driver::kClockEventsSection | driver::kMemorySection |
                                   driver::kUtilizationSection | driver::kTemperatureSection |
                                   driver::kPowerSection | driver::kPciSection | driver::kPerformanceSection;
constexpr unsigned kCounterSections =
    driver::kNvLinkSection | driver::kPciSection | driver::kMemorySection | driver::kPerformanceSection;

struct GpmMetric {
  Quantity quantity;
  unsigned id;
};
constexpr std::array kGpmMetrics = {
    GpmMetric{kGraphicsActivity, NVML_GPM_METRIC_GRAPHICS_UTIL},
    GpmMetric{kSmActivity, NVML_GPM_METRIC_SM_UTIL},
    GpmMetric{kSmOccupancy, NVML_GPM_METRIC_SM_OCCUPANCY},
    GpmMetric{kTensorActivity, NVML_GPM_METRIC_ANY_TENSOR_UTIL},
    GpmMetric{kDramActivity, NVML_GPM_METRIC_DRAM_BW_UTIL},
};

class Profilers {
 public:
  explicit Profilers(const driver::Nvml& nvml) {
    for (const driver::Gpu& gpu : nvml.gpus()) {
      auto sampler = driver::GpmSampler::open(gpu);
      samplers_.push_back(sampler ? std::optional(std::move(*sampler)) : std::nullopt);
    }
    for (const GpmMetric& metric : kGpmMetrics) ids_.push_back(metric.id);
  }
  void add_to(Snapshot& sample) {
    for (size_t i = 0; i < std::min(samplers_.size(), sample.gpus.size()); ++i) {
      if (!samplers_[i]) continue;
      const auto values = samplers_[i]->metrics(ids_);
      if (!values) continue;
      for (size_t m = 0; m < std::min(kGpmMetrics.size(), values->size()); ++m) {
        if ((*values)[m]) state(sample.gpus[i], kGpmMetrics[m].quantity, *(*values)[m]);
      }
    }
  }

 private:
  std::vector<std::optional<driver::GpmSampler>> samplers_;
  std::vector<unsigned> ids_;
};

std::vector<unsigned> pids_of(const driver::MachineSnapshot& machine) {
  std::set<unsigned> pids;
  for (const GpuSnapshot& gpu : machine.gpus) {
    if (const auto running = driver::running_processes(gpu)) {
      for (const driver::GpuProcess& process : *running) pids.insert(process.pid);
    }
  }
  return {pids.begin(), pids.end()};
}

// A sample names its GPUs as the full reading does.
void name_gpus(const driver::MachineSnapshot& full, Snapshot& sample) {
  for (size_t i = 0; i < std::min(full.gpus.size(), sample.gpus.size()); ++i) {
    const GpuReadings named = report_of(full.gpus[i]);
    sample.gpus[i].name = named.name;
    sample.gpus[i].uuid = named.uuid;
    sample.gpus[i].address = named.address;
    sample.gpus[i].evidence = named.evidence;
  }
}

void take_events(std::optional<driver::NvmlEvents>& source, milliseconds patience, LoadWindow& window) {
  const auto end = steady_clock::now() + patience;
  while (source) {
    const auto left = duration_cast<milliseconds>(end - steady_clock::now());
    const auto event = source->wait(std::max(left, milliseconds(0)));
    if (!event || !*event) break;
    window.events.push_back(**event);
  }
  std::this_thread::sleep_until(end);
}

// What varies and is judged by its mean.
bool is_averaged(Quantity q) {
  constexpr std::array kAveraged = {kGpuUtilization, kMemoryUtilization, kPowerDraw,
                                    kPcieFromHost,   kGraphicsActivity,  kSmActivity,
                                    kSmOccupancy,    kTensorActivity,    kDramActivity};
  return std::find(kAveraged.begin(), kAveraged.end(), q) != kAveraged.end();
}

bool is_at_best(Quantity q) {
  return q == kPcieGeneration || q == kPcieWidth;
}

uint64_t lasting_reasons(const LoadWindow& window, size_t gpu) {
  std::array<size_t, 64> held{};
  size_t known = 0;
  for (const Snapshot& sample : window.samples) {
    const auto value = sample.gpus[gpu][kClockReasons].value;
    if (!value) continue;
    ++known;
    const auto bits = static_cast<uint64_t>(*value);
    for (size_t bit = 0; bit < held.size(); ++bit) held[bit] += bits >> bit & 1;
  }
  uint64_t lasting = 0;
  for (size_t bit = 0; bit < held.size(); ++bit) {
    if (held[bit] > 0 && 2 * held[bit] >= known) lasting |= uint64_t{1} << bit;
  }
  return lasting;
}

void summarise(const LoadWindow& window, size_t gpu, Quantity q, GpuReadings& summary) {
  double sum = 0, best = 0, last = 0;
  size_t count = 0;
  for (const Snapshot& sample : window.samples) {
    const auto value = sample.gpus[gpu][q].value;
    if (!value) continue;
    ++count;
    sum += *value;
    best = std::max(best, *value);
    last = *value;
  }
  if (count == 0) return;
  state(summary, q, is_averaged(q) ? sum / static_cast<double>(count) : is_at_best(q) ? best : last);
}

}  // namespace

LoadWindow watch_load(const driver::Nvml& nvml, const driver::HostRoot& root, const WindowOptions& options) {
  LoadWindow window;
  const auto begin = steady_clock::now();
  auto events = driver::NvmlEvents::open(nvml);
  std::optional<driver::NvmlEvents> source;
  if (events) source.emplace(std::move(*events));
  window.full = driver::read_machine(nvml, kFullSections);
  ActivityWatch activity(root, pids_of(window.full));
  Profilers profilers(nvml);
  const auto end = steady_clock::now() + options.length;
  do {
    take_events(source, std::min(options.interval, options.length), window);
    Snapshot sample = report_of(driver::read_machine(nvml, kLoadSections));
    name_gpus(window.full, sample);
    profilers.add_to(sample);
    window.samples.push_back(std::move(sample));
    activity.look();
  } while (steady_clock::now() + options.interval / 2 < end);
  window.after = driver::read_machine(nvml, kCounterSections);
  window.host = activity.finish();
  window.seconds = duration<double>(steady_clock::now() - begin).count();
  return window;
}

GpuReadings summary_of(const LoadWindow& window, size_t gpu) {
  GpuReadings summary = report_of(window.full.gpus[gpu]);
  for (size_t i = 0; i < summary.readings.size(); ++i)
    summarise(window, gpu, static_cast<Quantity>(i), summary);
  if (summary[kClockReasons].value)
    state(summary, kClockReasons, static_cast<double>(lasting_reasons(window, gpu)));
  return summary;
}

}  // namespace pagoda::faults
