// Profiling metrics by GPM (Hopper and later): rates between two samples, without DCGM's daemon and without
// root.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "driver/nvml_gpu.h"

namespace pagoda::driver {

class GpmSampler {
 public:
  // Takes the first sample. `gpu_instance`: of a MIG device; `gpu` is then its parent. Absent (kUnsupported)
  // before Hopper.
  static Reading<GpmSampler> open(const Gpu& gpu, std::optional<unsigned> gpu_instance = std::nullopt);

  // The metrics (NVML_GPM_METRIC_…) since the last call (or since open), in order, each absent alone:
  // percent, or MiB per second for PCIe, NVLink and C2C. NVIDIA asks for at least 100 ms between two samples.
  // One thread at a time.
  Reading<std::vector<Reading<double>>> metrics(std::span<const unsigned> ids);

 private:
  struct Samples;
  GpmSampler(Gpu gpu, std::optional<unsigned> gpu_instance, std::shared_ptr<Samples> samples)
      : gpu_(std::move(gpu)), gpu_instance_(gpu_instance), samples_(std::move(samples)) {}
  Reading<void> sample(nvmlGpmSample_t into) const;

  Gpu gpu_;
  std::optional<unsigned> gpu_instance_;
  std::shared_ptr<Samples> samples_;
};

}  // namespace pagoda::driver
