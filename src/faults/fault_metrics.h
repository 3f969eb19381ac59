// Current faults as Prometheus text: what `doctor --watch` writes for the exporter, or for node_exporter's
// textfile collector.
#pragma once

#include <string>
#include <vector>

#include "faults/fault_watch.h"

namespace pagoda::faults {

struct WatchState {
  std::vector<WatchedStory> stories;
  WallTime examined_at;
  double examination_seconds = 0;
};

// pagoda_fault{id, gpu, role, severity, step, drain} 1 for every finding of every current story; a fault that
// cleared has no line.
std::string fault_metrics(const WatchState& state);

}  // namespace pagoda::faults
