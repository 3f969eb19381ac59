// The GPUs at one moment as telemetry sees them: the snapshot, and what takes two readings or listening:
// profiling metrics, rates, XIDs. Plain data; who fills it is gpu_sampler.h.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "driver/gpu_snapshot.h"
#include "telemetry/field_value.h"

namespace pagoda::telemetry {

// An XID that the driver told.
struct XidEvent {
  unsigned gpu = 0;  // NVML's index
  unsigned xid = 0;
  std::optional<unsigned> gpu_instance, compute_instance;
  std::chrono::system_clock::time_point time;
};

// By NVML_GPM_METRIC_…, each percent or MiB per second since the sample before. Absent as a whole before
// Hopper.
using ProfileMetrics = driver::Field<std::map<unsigned, driver::Reading<double>>>;

// Of one link since the sample before, KiB per second.
struct LinkRate {
  driver::Field<double> tx, rx;
};

struct GpuActivity {
  ProfileMetrics profile;                               // of the whole GPU
  std::map<unsigned, ProfileMetrics> instance_profile;  // by the id of the GPU instance
  // The last one since listening began; empty: none came. Absent where nobody listens.
  driver::Field<std::optional<XidEvent>> last_xid;
  std::vector<LinkRate> links;
};

struct GpuSample {
  driver::MachineSnapshot machine;
  std::vector<GpuActivity> activity;  // as machine.gpus
  // Values that stand for readings of whole GPUs, by NVML's index and field id: `dcgmi test --inject`.
  std::map<std::pair<unsigned, unsigned>, FieldValue> injected;
};

// One GPU of a sample, or one MIG device on it.
struct EntityReadings {
  const GpuSample& sample;
  size_t gpu = 0;             // place in sample.machine.gpus
  std::optional<size_t> mig;  // place in its mig.devices; empty: the whole GPU

  const driver::GpuSnapshot& snapshot() const { return sample.machine.gpus[gpu]; }
  const GpuActivity& activity() const { return sample.activity[gpu]; }
  const driver::MigDevice* mig_device() const { return mig ? &snapshot().mig.devices[*mig] : nullptr; }
};

}  // namespace pagoda::telemetry
