#include "telemetry/exporter.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/format.h"
#include "base/log.h"
#include "telemetry/exporter_page.h"

namespace pagoda::telemetry {
namespace {

constexpr size_t kMostXids = 4096;              // remembered with their times
constexpr std::chrono::seconds kFirstWait(15);  // a GPU that hangs costs a call's deadline, here too

P2pMatrix read_p2p(const std::vector<driver::Gpu>& gpus) {
  P2pMatrix matrix(gpus.size(), std::vector<driver::Field<unsigned>>(gpus.size()));
  for (size_t i = 0; i < gpus.size(); ++i) {
    for (size_t j = 0; j < gpus.size(); ++j) {
      if (i == j || !gpus[j].handle()) continue;
      matrix[i][j] =
          gpus[i]
              .read(driver::nvml::kDeviceGetP2PStatus, *gpus[j].handle(), NVML_P2P_CAPS_INDEX_NVLINK)
              .map([](nvmlGpuP2PStatus_t status) { return static_cast<unsigned>(status); });
    }
  }
  return matrix;
}

// Logs a fault when it begins and when it is over, not at each collection.
class LoggedFault {
 public:
  void now(const std::string& message) {
    if (message == message_) return;
    if (!message.empty()) log::warning("{}", message);
    if (message.empty()) log::info("over: {}", message_);
    message_ = message;
  }

 private:
  std::string message_;
};

}  // namespace

std::chrono::milliseconds stale_after(std::chrono::milliseconds interval) {
  return 2 * interval + std::chrono::seconds(10);
}

struct Exporter::State {
  State(driver::Nvml library, ExporterPlan first_plan, ExporterSettings chosen)
      : nvml(std::move(library)),
        settings(std::move(chosen)),
        plan(std::move(first_plan)),
        names(settings.labels, settings.devices),
        clock_events(settings.clock_event_window) {}

  // The collector's own.
  driver::Nvml nvml;
  const ExporterSettings settings;
  ExporterPlan plan;
  std::unique_ptr<GpuSampler> sampler;
  EntityNames names;
  ClockEventRecord clock_events;
  HealthWindow health;
  std::vector<XidEvent> earlier_xids;  // of samplers before this one
  XidTotals earlier_totals;
  std::uint64_t collections = 0;
  std::set<unsigned> answering;  // by NVML's index, in the last collection
  LoggedFault jobs_fault, pods_fault, gpus_fault;

  mutable std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  std::optional<ExporterPlan> next_plan;
  std::shared_ptr<const std::string> prometheus, open_metrics;
  std::optional<TimePoint> collected, answered;  // the last collection; the last in which a GPU answered
  std::thread thread;

  JobsByGpu jobs() {
    if (settings.job_mapping_folder.empty()) return {};
    auto jobs = read_job_mapping(settings.job_mapping_folder);
    jobs_fault.now(jobs ? "" : jobs.error().message);
    return jobs ? *std::move(jobs) : JobsByGpu{};
  }

  std::vector<PodDevice> pods() {
    if (settings.pods == nullptr) return {};
    auto pods = settings.pods->list();
    pods_fault.now(pods ? "" : pods.error().message);
    return pods ? *std::move(pods) : std::vector<PodDevice>{};
  }

  // How many answer; the log says when that changes. A GPU that came back is listened to and profiled by a
  // new sampler: the old one has left it out.
  size_t note_answers(const GpuSample& sample) {
    std::string silent;
    std::set<unsigned> now;
    for (const driver::GpuSnapshot& gpu : sample.machine.gpus) {
      if (answers(gpu))
        now.insert(gpu.index);
      else
        silent += (silent.empty() ? "GPU " : ", ") + std::to_string(gpu.index);
    }
    gpus_fault.now(silent.empty() ? "" : silent + " lost: no answer from the driver");
    if (collections > 1 && !std::includes(answering.begin(), answering.end(), now.begin(), now.end())) {
      drop_sampler();
      make_sampler();  // at once: what comes until the next collection is heard
    }
    answering = std::move(now);
    return answering.size();
  }

  XidTotals xid_totals() const {
    XidTotals totals = earlier_totals;
    for (const driver::Gpu& gpu : nvml.gpus()) {
      for (const auto& [xid, count] : sampler->xids()->counts(gpu.index())) totals[gpu.index()][xid] += count;
    }
    return totals;
  }
  std::vector<XidEvent> xids() const {
    std::vector<XidEvent> events = earlier_xids;
    const auto later = sampler->xids()->since({});
    events.insert(events.end(), later.begin(), later.end());
    if (events.size() > kMostXids) events.erase(events.begin(), events.end() - kMostXids);
    return events;
  }
  std::vector<XidEvent> recent(std::vector<XidEvent> events) const {
    const auto since = std::chrono::system_clock::now() - settings.xid_window;
    std::erase_if(events, [&](const XidEvent& event) { return event.time < since; });
    return events;
  }
  // A sampler for another plan begins without a past.
  void drop_sampler() {
    if (!sampler) return;
    earlier_totals = xid_totals();
    earlier_xids = xids();
    sampler.reset();
  }

  void make_sampler() { sampler = std::make_unique<GpuSampler>(nvml, nvml.gpus(), plan.needs); }

  // An XID that an earlier sampler heard is still the GPU's last one.
  static void keep_last_xids(const std::vector<XidEvent>& events, GpuSample& sample) {
    for (const XidEvent& event : events) {
      for (size_t gpu = 0; gpu < sample.machine.gpus.size(); ++gpu) {
        if (sample.machine.gpus[gpu].index == event.gpu)
          sample.activity[gpu].last_xid = std::optional<XidEvent>(event);
      }
    }
  }

  void collect() {
    if (!sampler) make_sampler();
    const Stopwatch watch;
    GpuSample sample = sampler->read();
    const auto events = xids();
    keep_last_xids(events, sample);
    const TimePoint now = Clock::now();
    names.learn(sample);
    for (const driver::GpuSnapshot& gpu : sample.machine.gpus) {
      if (const auto& active = gpu.clock_events.active) clock_events.add(gpu.index, *active, now);
    }
    const auto entities = names.entities(sample, plan.labels, jobs(), pods());
    const auto gpus = names.gpus(sample);
    const XidTotals totals = xid_totals();
    const P2pMatrix p2p = plan.p2p ? read_p2p(nvml.gpus()) : P2pMatrix{};
    const auto incidents =
        plan.health ? health.check(sample, recent(events), now) : std::vector<std::vector<Incident>>{};
    const ExporterScene scene{plan,
                              sample,
                              entities,
                              gpus,
                              events,
                              totals,
                              clock_events,
                              p2p,
                              incidents,
                              settings.xid_window,
                              settings.clock_event_window,
                              now,
                              std::chrono::system_clock::now(),
                              settings.xid_words,
                              settings.version,
                              ++collections,
                              watch.seconds()};
    auto plain = std::make_shared<const std::string>(write_page(ExpositionForm::kPrometheus, scene));
    auto open = std::make_shared<const std::string>(write_page(ExpositionForm::kOpenMetrics, scene));
    const size_t answers_now = note_answers(sample);
    log::debug("collection {}: {} of {} GPUs answer, {} entities, {:.1f} ms", collections, answers_now,
               sample.machine.gpus.size(), entities.size(), 1e3 * watch.seconds());
    const std::lock_guard lock(mutex);
    prometheus = std::move(plain);
    open_metrics = std::move(open);
    collected = Clock::now();
    if (answers_now > 0) answered = collected;
    changed.notify_all();
  }

  void run() {
    TimePoint next = Clock::now();
    std::unique_lock lock(mutex);
    while (!stop) {
      if (next_plan) {
        plan = *std::exchange(next_plan, std::nullopt);
        drop_sampler();
      }
      lock.unlock();
      collect();
      lock.lock();
      // A collection that took longer than the interval is followed by the next one at once, not by several.
      next = std::max(next + settings.interval, Clock::now());
      changed.wait_until(lock, next, [&] { return stop || next_plan.has_value(); });
    }
  }
};

Exporter::Exporter(std::unique_ptr<State> state) : state_(std::move(state)) {}

std::unique_ptr<Exporter> Exporter::start(driver::Nvml nvml, ExporterPlan plan, ExporterSettings settings) {
  std::unique_ptr<Exporter> exporter(
      new Exporter(std::make_unique<State>(std::move(nvml), std::move(plan), std::move(settings))));
  State& state = *exporter->state_;
  state.thread = std::thread([&state] { state.run(); });
  std::unique_lock lock(state.mutex);
  state.changed.wait_for(lock, kFirstWait, [&] { return state.collected.has_value(); });
  return exporter;
}

Exporter::~Exporter() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

std::shared_ptr<const std::string> Exporter::text(ExpositionForm form) const {
  const std::lock_guard lock(state_->mutex);
  return form == ExpositionForm::kOpenMetrics ? state_->open_metrics : state_->prometheus;
}

Status Exporter::health() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->collected)
    return fail(ErrorCode::kUnavailable, "the first reading of the GPUs has not ended yet");
  const double limit = std::chrono::duration<double>(stale_after(state_->settings.interval)).count();
  const double age = seconds_between(*state_->collected, Clock::now());
  if (age > limit) {
    return fail(
        ErrorCode::kUnavailable,
        format("stale: the last reading of the GPUs ended {:.0f} s ago, and one is due every {:.0f} s", age,
               std::chrono::duration<double>(state_->settings.interval).count()));
  }
  if (!state_->answered || seconds_between(*state_->answered, Clock::now()) > limit)
    return fail(ErrorCode::kUnavailable, "no GPU answers; `pagoda doctor` looks for the cause");
  return {};
}

void Exporter::change_plan(ExporterPlan plan) {
  const std::lock_guard lock(state_->mutex);
  state_->next_plan = std::move(plan);
  state_->changed.notify_all();
}

}  // namespace pagoda::telemetry
