#include "telemetry/gpu_sampler.h"

#include <algorithm>
#include <thread>

namespace pagoda::telemetry {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenSamples(100);

bool worth_another_try(const driver::Absence& absence) {
  return absence.reason != driver::AbsenceReason::kUnsupported &&
         absence.reason != driver::AbsenceReason::kLibraryTooOld;
}

driver::Field<double> rate(const driver::Count& now, const driver::Count& before, double seconds) {
  if (!now) return tl::unexpected<driver::Absence>(now.error());
  if (!before || seconds <= 0) return {};
  // A counter that fell was set back: what came since is known.
  const std::uint64_t more = *now >= *before ? *now - *before : *now;
  return static_cast<double>(more) / seconds;
}

}  // namespace

SampleNeeds needs_of(std::span<const FieldRow* const> fields) {
  SampleNeeds needs;
  for (const FieldRow* field : fields) {
    needs.sections |= field->sections;
    if (field->gpm != 0) needs.profile.push_back(field->gpm);
    if (field->id == 230) needs.xids = true;
  }
  std::sort(needs.profile.begin(), needs.profile.end());
  needs.profile.erase(std::unique(needs.profile.begin(), needs.profile.end()), needs.profile.end());
  return needs;
}

// GPM of one GPU and of its GPU instances.
struct GpuSampler::Profiler {
  struct One {
    driver::Field<driver::GpmSampler> sampler;
    Clock::time_point taken;
  };
  One whole;
  std::map<unsigned, One> instances;

  static ProfileMetrics read(One& one, const driver::Gpu& gpu, std::optional<unsigned> instance,
                             const std::vector<unsigned>& metrics) {
    if (!one.sampler && worth_another_try(one.sampler.error())) {
      one.sampler = driver::GpmSampler::open(gpu, instance);
      one.taken = Clock::now();
    }
    if (!one.sampler) return tl::unexpected<driver::Absence>(one.sampler.error());
    std::this_thread::sleep_until(one.taken + kBetweenSamples);
    const auto values = one.sampler->metrics(metrics);
    one.taken = Clock::now();
    if (!values) {
      one.sampler = tl::unexpected<driver::Absence>(values.error());  // opened anew at the next read
      return tl::unexpected<driver::Absence>(values.error());
    }
    std::map<unsigned, driver::Reading<double>> by_metric;
    for (size_t i = 0; i < metrics.size(); ++i) by_metric.emplace(metrics[i], (*values)[i]);
    return by_metric;
  }

  void read(const driver::Gpu& gpu, const driver::GpuSnapshot& snapshot, const std::vector<unsigned>& metrics,
            GpuActivity& out) {
    if (metrics.empty()) return;
    out.profile = read(whole, gpu, std::nullopt, metrics);
    for (const driver::MigDevice& mig : snapshot.mig.devices) {
      if (!mig.gpu_instance || out.instance_profile.contains(*mig.gpu_instance)) continue;
      out.instance_profile[*mig.gpu_instance] =
          read(instances[*mig.gpu_instance], gpu, *mig.gpu_instance, metrics);
    }
  }
};

struct GpuSampler::LinkTotals {
  std::vector<driver::NvLink> before;
  Clock::time_point taken;

  void read(const driver::GpuSnapshot& snapshot, GpuActivity& out) {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - taken).count();
    for (size_t i = 0; i < snapshot.nvlink.links.size(); ++i) {
      const driver::NvLink& link = snapshot.nvlink.links[i];
      const driver::NvLink earlier = i < before.size() ? before[i] : driver::NvLink{};
      out.links.push_back(
          {rate(link.tx_kib, earlier.tx_kib, seconds), rate(link.rx_kib, earlier.rx_kib, seconds)});
    }
    before = snapshot.nvlink.links;
    taken = now;
  }
};

GpuSampler::GpuSampler(driver::Nvml nvml, std::vector<driver::Gpu> gpus, SampleNeeds needs)
    : nvml_(std::move(nvml)), gpus_(std::move(gpus)), needs_(std::move(needs)) {
  if (gpus_.empty()) gpus_ = nvml_.gpus();
  if (needs_.xids) xids_ = std::make_unique<XidWatch>(nvml_);
  profilers_.resize(gpus_.size());
  links_.resize(gpus_.size());
}

GpuSampler::~GpuSampler() = default;

GpuSample GpuSampler::read() {
  GpuSample sample;
  sample.machine =
      driver::read_machine(nvml_, needs_.sections | driver::kIdentitySection | driver::kMigSection, gpus_);
  sample.activity.resize(gpus_.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < gpus_.size(); ++i) {
    const driver::GpuSnapshot& snapshot = sample.machine.gpus[i];
    GpuActivity& activity = sample.activity[i];
    if (xids_) activity.last_xid = xids_->last(gpus_[i].index());
    links_[i].read(snapshot, activity);
    if (!needs_.profile.empty())
      threads.emplace_back([&, i] { profilers_[i].read(gpus_[i], snapshot, needs_.profile, activity); });
  }
  for (std::thread& thread : threads) thread.join();
  return sample;
}

}  // namespace pagoda::telemetry
