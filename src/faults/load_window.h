// All GPUs over a window of several samples: one reading of a load means nothing. The full state is read
// once, then what changes from moment to moment again and again, with profiling (GPM) where a GPU has it.
#pragma once

#include <chrono>
#include <vector>

#include "driver/gpu_snapshot.h"
#include "driver/nvml.h"
#include "driver/nvml_events.h"
#include "faults/process_activity.h"
#include "faults/reported_readings.h"

namespace pagoda::faults {

struct WindowOptions {
  std::chrono::milliseconds length{5000};
  std::chrono::milliseconds interval{500};  // between two samples; NVIDIA asks for at least 100 for GPM
};

struct LoadWindow {
  driver::MachineSnapshot full;           // at its beginning
  driver::MachineSnapshot after;          // NVLinks and PCIe at its end, for what was counted meanwhile
  std::vector<Snapshot> samples;          // the load, at least one
  std::vector<driver::NvmlEvent> events;  // XIDs told meanwhile
  HostActivity host;
  double seconds = 0;
};

// `root`: whose /proc shows the GPUs' processes.
LoadWindow watch_load(const driver::Nvml& nvml, const driver::HostRoot& root, const WindowOptions& options);

// One GPU over the window: means of what varies, the best that a link reached, the clock reasons that held in
// at least half of the samples, and the last of everything else.
GpuReadings summary_of(const LoadWindow& window, size_t gpu);

}  // namespace pagoda::faults
