// Takes samples for a choice of fields: reads what they need and no more, all GPUs at once. One thread at a
// time.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "driver/gpu_snapshot_reader.h"
#include "driver/nvml_gpm.h"
#include "telemetry/field_catalogue.h"
#include "telemetry/xid_watch.h"

namespace pagoda::telemetry {

// What a set of fields is read from.
struct SampleNeeds {
  unsigned sections = 0;          // driver::Section bits
  std::vector<unsigned> profile;  // NVML_GPM_METRIC_…
  bool xids = false;
};
SampleNeeds needs_of(std::span<const FieldRow* const> fields);

class GpuSampler {
 public:
  // `gpus`: those to read, in this order; empty: all. Without `xids` in the needs nobody listens for them.
  GpuSampler(driver::Nvml nvml, std::vector<driver::Gpu> gpus, SampleNeeds needs);
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  // A GPU that does not answer is in it, with readings that say so. Profiling metrics and rates are those
  // since the read before; the first read takes at least a tenth of a second where there are any, because
  // NVIDIA asks for that between two samples.
  GpuSample read();

  // Null where the needs have no XIDs.
  const XidWatch* xids() const { return xids_.get(); }

 private:
  struct Profiler;
  struct LinkTotals;

  driver::Nvml nvml_;
  std::vector<driver::Gpu> gpus_;
  SampleNeeds needs_;
  std::unique_ptr<XidWatch> xids_;
  std::vector<Profiler> profilers_;  // as gpus_
  std::vector<LinkTotals> links_;    // as gpus_
};

}  // namespace pagoda::telemetry
