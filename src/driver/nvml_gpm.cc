#include "driver/nvml_gpm.h"

#include <utility>

namespace pagoda::driver {

// Freed on the GPU's worker, where they were made; behind a call that is stuck they are left to the process.
struct GpmSampler::Samples {
  explicit Samples(nvml::Runner owner) : runner(std::move(owner)) {}
  ~Samples() {
    for (nvmlGpmSample_t sample : {earlier, later}) {
      if (sample != nullptr)
        runner.run<std::tuple<>>(nvml::kGpmSampleFree,
                                 [sample](auto* function, auto&) { return function(sample); });
    }
  }
  Samples(const Samples&) = delete;
  Samples& operator=(const Samples&) = delete;

  nvml::Runner runner;
  nvmlGpmSample_t earlier = nullptr, later = nullptr;
};

Reading<GpmSampler> GpmSampler::open(const Gpu& gpu, std::optional<unsigned> gpu_instance) {
  nvmlGpmSupport_t request{};
  request.version = NVML_GPM_SUPPORT_VERSION;
  const auto support = gpu.fill(nvml::kGpmQueryDeviceSupport, request);
  if (!support) return tl::unexpected<Absence>(support.error());
  if (support->isSupportedDevice == 0) return absent(NVML_ERROR_NOT_SUPPORTED);
  auto samples = std::make_shared<Samples>(gpu.runner());
  for (nvmlGpmSample_t* sample : {&samples->earlier, &samples->later}) {
    const auto made = gpu.runner().run<nvmlGpmSample_t>(
        nvml::kGpmSampleAlloc, [](auto* function, nvmlGpmSample_t& out) { return function(&out); });
    if (!made) return tl::unexpected<Absence>(made.error());
    *sample = *made;
  }
  GpmSampler sampler(gpu, gpu_instance, std::move(samples));
  const auto first = sampler.sample(sampler.samples_->earlier);
  if (!first) return tl::unexpected<Absence>(first.error());
  return sampler;
}

Reading<void> GpmSampler::sample(nvmlGpmSample_t into) const {
  return gpu_instance_ ? gpu_.read(nvml::kGpmMigSampleGet, *gpu_instance_, into)
                       : gpu_.read(nvml::kGpmSampleGet, into);
}

Reading<std::vector<Reading<double>>> GpmSampler::metrics(std::span<const unsigned> ids) {
  if (const auto taken = sample(samples_->later); !taken) return tl::unexpected<Absence>(taken.error());
  auto request = std::make_shared<nvmlGpmMetricsGet_t>();  // some 10 KB
  request->version = NVML_GPM_METRICS_GET_VERSION;
  request->sample1 = samples_->earlier;
  request->sample2 = samples_->later;
  request->numMetrics = static_cast<unsigned>(std::min<size_t>(ids.size(), std::size(request->metrics)));
  for (unsigned i = 0; i < request->numMetrics; ++i) request->metrics[i].metricId = ids[i];
  // The samples are held too: a call that is stuck still reads them.
  const auto done = gpu_.runner().run<std::tuple<>>(
      nvml::kGpmMetricsGet,
      [request, held = samples_](auto* function, auto&) { return function(request.get()); });
  if (!done) return tl::unexpected<Absence>(done.error());
  std::swap(samples_->earlier, samples_->later);
  std::vector<Reading<double>> values;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i >= request->numMetrics) {
      values.push_back(absent(NVML_ERROR_INVALID_ARGUMENT));
    } else if (request->metrics[i].nvmlReturn != NVML_SUCCESS) {
      values.push_back(absent(request->metrics[i].nvmlReturn));
    } else {
      values.push_back(request->metrics[i].value);
    }
  }
  return values;
}

}  // namespace pagoda::driver
