#include "telemetry/xid_watch.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "driver/nvml_events.h"

namespace pagoda::telemetry {
namespace {

constexpr std::chrono::milliseconds kWait(200);  // so long the end of a watch may take
constexpr std::chrono::milliseconds kRetry(1000);
constexpr size_t kKept = 4096;

}  // namespace

struct XidWatch::State {
  explicit State(driver::Nvml library) : nvml(std::move(library)) {}

  driver::Nvml nvml;
  mutable std::mutex mutex;
  std::condition_variable changed;
  bool stop = false, tried = false;
  std::optional<driver::Absence> failure;  // nobody listens
  std::set<unsigned> listening;
  std::map<unsigned, XidEvent> last;
  std::map<unsigned, std::map<unsigned, std::uint64_t>> counts;
  std::deque<XidEvent> events;
  std::thread thread;

  void note(const driver::NvmlEvent& event) {
    std::lock_guard lock(mutex);
    const XidEvent xid{event.gpu, static_cast<unsigned>(event.data), event.gpu_instance,
                       event.compute_instance, std::chrono::system_clock::now()};
    last[event.gpu] = xid;
    ++counts[event.gpu][xid.xid];
    events.push_back(xid);
    if (events.size() > kKept) events.pop_front();
  }

  bool stopping() const {
    std::lock_guard lock(mutex);
    return stop;
  }
  void tell(const driver::Reading<driver::NvmlEvents>& opened) {
    std::lock_guard lock(mutex);
    tried = true;
    failure = opened ? std::nullopt : std::optional(opened.error());
    if (opened) listening = {opened->gpus().begin(), opened->gpus().end()};
    changed.notify_all();
  }
  void pause() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, kRetry, [&] { return stop; });
  }

  void listen() {
    while (!stopping()) {
      auto events_of_all = driver::NvmlEvents::open(nvml);
      tell(events_of_all);
      while (events_of_all && !stopping()) {
        const auto event = events_of_all->wait(kWait);
        if (!event) break;  // e.g. a GPU is lost: those that are left are registered anew
        if (*event) note(**event);
      }
      if (!stopping()) pause();
    }
  }
};

XidWatch::XidWatch(const driver::Nvml& nvml) : state_(std::make_unique<State>(nvml)) {
  state_->thread = std::thread([state = state_.get()] { state->listen(); });
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->tried; });
}

XidWatch::~XidWatch() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

driver::Reading<std::optional<XidEvent>> XidWatch::last(unsigned gpu) const {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->last.find(gpu);
  if (found != state_->last.end()) return found->second;
  if (state_->failure) return tl::unexpected<driver::Absence>(*state_->failure);
  if (!state_->listening.contains(gpu))
    return tl::unexpected<driver::Absence>(driver::absence_of(NVML_ERROR_NOT_SUPPORTED));
  return std::optional<XidEvent>();
}

std::map<unsigned, std::uint64_t> XidWatch::counts(unsigned gpu) const {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->counts.find(gpu);
  return found == state_->counts.end() ? std::map<unsigned, std::uint64_t>() : found->second;
}

std::vector<XidEvent> XidWatch::since(std::chrono::system_clock::time_point time) const {
  std::lock_guard lock(state_->mutex);
  std::vector<XidEvent> out;
  for (const XidEvent& event : state_->events) {
    if (event.time >= time) out.push_back(event);
  }
  return out;
}

}  // namespace pagoda::telemetry
