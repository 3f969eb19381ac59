#include "app/policy_listener.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <set>
#include <thread>

#include "app/dcgmi_tests.h"
#include "app/gpu_reset.h"
#include "base/format.h"
#include "telemetry/injected_values.h"
#include "telemetry/policy_watch.h"

namespace pagoda::app {
namespace {

using telemetry::Policy;
using telemetry::Violation;

constexpr std::chrono::milliseconds kBetweenSamples(1000), kBetweenXids(100);

std::atomic<bool> g_stop{false};

std::string time_words() {
  const std::time_t now = std::time(nullptr);
  char text[32] = {};
  ::ctime_r(&now, text);
  return std::string(text, std::strcspn(text, "\n"));
}

class Listener {
 public:
  Listener(const DcgmiSession& session, const std::vector<size_t>& places,
           std::map<unsigned, Policy> policies)
      : session_(session),
        policies_(std::move(policies)),
        watch_(policies_),
        sampler_(session.nvml(), session.handles_of(places), needs(policies_)) {
    watch_.look_at(sampler_.read());  // what counters are compared with
  }

  void run() {
    fmt::print("Listening for violations.\n");
    std::fflush(stdout);
    auto next_sample = std::chrono::steady_clock::now();
    while (!g_stop) {
      look_for_xids();
      if (std::chrono::steady_clock::now() >= next_sample) {
        next_sample += kBetweenSamples;
        look_at_sample();
      }
      std::this_thread::sleep_for(kBetweenXids);
    }
  }

 private:
  static telemetry::SampleNeeds needs(const std::map<unsigned, Policy>& policies) {
    unsigned conditions = 0;
    for (const auto& [gpu, policy] : policies) conditions |= policy.conditions;
    return telemetry::policy_needs(conditions);
  }

  void look_for_xids() {
    if (sampler_.xids() == nullptr) return;
    const auto events = sampler_.xids()->since({});
    for (; told_ < events.size(); ++told_)
      tell(watch_.look_at(std::vector<telemetry::XidEvent>{events[told_]}));
  }

  void look_at_sample() {
    telemetry::GpuSample sample = sampler_.read();
    std::vector<telemetry::XidEvent> fresh;
    for (const telemetry::XidEvent& event : telemetry::inject(injected(), sample)) {
      if (injected_xids_.insert({event.gpu, event.time.time_since_epoch().count()}).second)
        fresh.push_back(event);
    }
    tell(watch_.look_at(sample));
    tell(watch_.look_at(fresh));
  }

  // Of this moment; what was injected before listening began is not told.
  std::vector<telemetry::InjectedValue> injected() const {
    const auto state = session_.load_state();
    if (!state) return {};
    auto values = telemetry::standing(state->injected, microseconds_now());
    std::erase_if(values, [&](const auto& value) { return value.time_us < began_us_; });
    return values;
  }

  static std::int64_t microseconds_now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  void tell(const std::vector<Violation>& violations) {
    for (const Violation& violation : violations) {
      fmt::print("Timestamp: {}\nGPU ID: {}\n", time_words(), violation.gpu);
      for (const std::string& line : violation.lines) fmt::print("{}\n", line);
      act(violation.gpu, policies_.at(violation.gpu));
      std::fflush(stdout);
    }
  }

  void act(unsigned gpu, const Policy& policy) {
    const auto* entity = telemetry::find_entity(session_.entities(), {telemetry::EntityKind::kGpu, gpu});
    if (policy.action == 1)
      fmt::print("Action: {}\n",
                 reset_gpu(session_.nvml().gpus()[entity->gpu]).value_or(format("GPU {} was reset.", gpu)));
    if (policy.validation == 0) return;
    const auto tests = run_dcgmi_tests(session_, {entity->gpu}, policy.validation);
    const size_t skipped = not_run(tests);
    fmt::print("Validation: {}: {}{}\n{}", validation_words(policy.validation),
               telemetry::name_of(worst_of(tests)),
               skipped == 0 ? "" : format(" ({} tests were not run)", skipped), faults_of(tests));
  }

  const DcgmiSession& session_;
  std::map<unsigned, Policy> policies_;
  telemetry::PolicyWatch watch_;
  telemetry::GpuSampler sampler_;
  std::int64_t began_us_ = microseconds_now();
  size_t told_ = 0;  // XIDs
  std::set<std::pair<unsigned, std::int64_t>> injected_xids_;
};

}  // namespace

std::string_view validation_words(unsigned level) {
  constexpr std::array<std::string_view, 4> kWords = {
      "None", "System Validation (Short)", "System Validation (Medium)", "System Validation (Long)"};
  return kWords[std::min<size_t>(level, kWords.size() - 1)];
}

void listen_for_violations(const DcgmiSession& session, const std::vector<size_t>& places,
                           std::map<unsigned, Policy> policies) {
  g_stop = false;
  std::signal(SIGINT, [](int) { g_stop = true; });
  std::signal(SIGTERM, [](int) { g_stop = true; });
  Listener(session, places, std::move(policies)).run();
}

}  // namespace pagoda::app
