// The exporter's heart: a thread that reads the GPUs at an interval and leaves the finished text; whoever
// serves /metrics copies it. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "driver/nvml.h"
#include "telemetry/exporter_entities.h"
#include "telemetry/exporter_plan.h"
#include "telemetry/exposition.h"
#include "telemetry/pod_labels.h"

namespace pagoda::telemetry {

struct ExporterSettings {
  std::chrono::milliseconds interval{30000};
  LabelStyle labels;
  DeviceChoice devices;
  std::chrono::milliseconds xid_window{300000}, clock_event_window{300000};
  std::string job_mapping_folder;    // empty: no jobs
  std::shared_ptr<PodDevices> pods;  // null: no pods
  std::function<std::string(unsigned xid)> xid_words;
  std::string version;
};

class Exporter {
 public:
  // Returns after the first collection, or after some seconds without one.
  static std::unique_ptr<Exporter> start(driver::Nvml nvml, ExporterPlan plan, ExporterSettings settings);
  ~Exporter();

  // Null before the first collection ended.
  std::shared_ptr<const std::string> text(ExpositionForm form) const;
  // kUnavailable, with one sentence: no collection yet, none in time, or one in which no GPU answered.
  Status health() const;
  // From the next collection on, which begins at once.
  void change_plan(ExporterPlan plan);

 private:
  struct State;
  explicit Exporter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Data older than this is stale: two intervals, and what a GPU that hangs may add.
std::chrono::milliseconds stale_after(std::chrono::milliseconds interval);

}  // namespace pagoda::telemetry
