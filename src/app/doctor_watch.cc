#include "app/doctor_watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "app/simulated_gpus.h"
#include "app/webhook.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/log.h"
#include "driver/nvml_events.h"
#include "faults/fault_metrics.h"
#include "faults/kernel_log_follower.h"
#include "faults/live_examination.h"
#include "faults/report_json.h"
#include "faults/smi_section.h"

namespace pagoda::app {
namespace {

using namespace std::chrono;
using faults::Transition;

constexpr int kExitNotExamined = 3;
constexpr int kLookMs = 500;  // between two looks at what cannot be polled: NVML's events, a plain file
constexpr double kLeastSeconds = 1;  // between two examinations, however much happens

std::string utc(faults::WallTime time) {
  const std::time_t seconds = system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, length};
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// One line of JSON, as the webhook gets it: docs/doctor.md.
std::string json_of(const Transition& transition, faults::WallTime now, const std::string& host) {
  nlohmann::ordered_json json;
  json["schema"] = faults::kReportSchema;
  json["event"] = faults::name_of(transition.kind);
  json["time"] = utc(now);
  json["since"] = utc(transition.watched.since);
  json["host"] = host;
  json["story"] = faults::story_as_json(transition.watched.story);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string text_of(const Transition& transition, faults::WallTime now) {
  const faults::Story& story = transition.watched.story;
  std::string text = format("{} {} {}: {}", utc(now), faults::name_of(transition.kind),
                            faults::name_of(story.severity), story.cause);
  if (transition.kind == Transition::Kind::kCleared)
    return text + format(" (since {})", utc(transition.watched.since));
  if (!story.actions.empty()) text += "; to do first: " + story.actions.front().text;
  return text;
}

// SIGTERM and SIGINT as something to poll; blocked for all threads that are started later.
class StopSignals {
 public:
  StopSignals() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    ::sigaddset(&set, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~StopSignals() { ::close(descriptor_); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

class DoctorWatch {
 public:
  DoctorWatch(const DoctorOptions& options, driver::HostRoot root,
              std::shared_ptr<const faults::PatternMatcher> matcher, std::unique_ptr<Webhook> webhook)
      : options_(options),
        root_(std::move(root)),
        matcher_(std::move(matcher)),
        webhook_(std::move(webhook)),
        memory_(seconds(static_cast<int64_t>(options.remember_s))) {
    inspection_.simulated = gpus_are_simulated();
    inspection_.window.length = milliseconds(static_cast<int64_t>(1000 * options.window_s));
  }

  int run(const StopSignals& stop) {
    if (!inspection_.simulated) follow_kernel_log();
    for (;;) {
      if (!examine()) return kExitNotExamined;
      if (wait(stop)) return 0;
    }
  }

 private:
  void follow_kernel_log() {
    auto opened = faults::KernelLogFollower::open(root_, matcher_);
    if (opened) {
      kernel_log_ = std::move(*opened);
    } else {
      log::warning("{}: XIDs come from NVML alone", opened.error().message);
    }
  }

  // New lines of the kernel's log; true: some of them mean something.
  bool take_kernel_log() {
    if (kernel_log_ == nullptr) return false;
    bool any = false;
    const auto now = system_clock::now();
    for (faults::Event& event : kernel_log_->new_events()) {
      const double age = kernel_log_->age_seconds(event);
      const auto logged_at =
          now - duration_cast<system_clock::duration>(duration<double>(std::max(0.0, age)));
      memory_.add(std::move(event), logged_at);
      any = true;
    }
    return any;
  }

  // False: the faults file cannot be written, and nobody would notice.
  bool examine() {
    const Stopwatch watch;
    auto examination = faults::Examination::begin(matcher_);
    std::vector<faults::Event> xids = faults::examine_devices(root_, inspection_, access_, *examination);
    take_kernel_log();
    const auto now = system_clock::now();
    if (kernel_log_ == nullptr) {
      for (faults::Event& xid : xids) memory_.add(std::move(xid), now);
    } else {
      examination->note_kernel_log();
    }
    memory_.forget(now);
    for (const auto& [logged_at, event] : memory_.events()) examination->add(event);
    const faults::Report report = examination->conclude();
    for (const std::string& gap : report.gaps) {
      if (told_gaps_.insert(gap).second) log::info("not looked at: {}", gap);
    }
    for (const Transition& transition : watch_.update(report, now)) tell(transition, now);
    // A GPU that is lost may come back, and a driver that is not there may be loaded.
    if (report.severity() == faults::Severity::kFault) access_.close();
    return write_faults_file({watch_.current(), now, watch.seconds()});
  }

  void tell(const Transition& transition, faults::WallTime now) {
    const std::string json = json_of(transition, now, host_);
    fmt::print("{}\n", options_.json ? json : text_of(transition, now));
    std::fflush(stdout);
    if (webhook_ != nullptr) webhook_->post(json);
  }

  bool write_faults_file(const faults::WatchState& state) {
    if (options_.faults_file.empty()) return true;
    const Status written = write_file_atomically(options_.faults_file, faults::fault_metrics(state));
    if (!written) log::error("{}", written.error().message);
    const bool first = std::exchange(first_, false);
    return written || !first;
  }

  // Until the next examination is due; true: a signal came.
  bool wait(const StopSignals& stop) {
    const Stopwatch waited;
    bool woken = false;
    auto events = listen();
    while (waited.seconds() < (woken ? kLeastSeconds : options_.interval_s)) {
      pollfd look[2] = {{stop.descriptor(), POLLIN, 0},
                        {kernel_log_ != nullptr ? kernel_log_->descriptor() : -1, POLLIN, 0}};
      const double left = (woken ? kLeastSeconds : options_.interval_s) - waited.seconds();
      ::poll(look, 2, std::min(kLookMs, static_cast<int>(1000 * left) + 1));
      if (look[0].revents != 0) return true;
      woken = take_kernel_log() || woken;
      woken = take_xids(events) || woken;
    }
    return false;
  }

  // XIDs of NVML, where it is open.
  std::optional<driver::NvmlEvents> listen() {
    const driver::Nvml* nvml = kernel_log_ == nullptr ? access_.open() : nullptr;
    if (nvml == nullptr) return std::nullopt;
    addresses_.clear();
    auto events = driver::NvmlEvents::open(*nvml);
    if (!events) return std::nullopt;
    for (const driver::Gpu& gpu : nvml->gpus()) {
      const auto pci = gpu.pci();
      addresses_.push_back(pci ? pci->busId : std::to_string(gpu.index()));
    }
    return std::move(*events);
  }

  bool take_xids(std::optional<driver::NvmlEvents>& events) {
    bool any = false;
    while (events) {
      const auto event = events->wait(milliseconds(0));
      if (!event || !*event) break;
      const size_t gpu = (*event)->gpu;
      const std::string label = gpu < addresses_.size() ? addresses_[gpu] : std::to_string(gpu);
      memory_.add(faults::xid_event((*event)->data, label), system_clock::now());
      any = true;
    }
    return any;
  }

  const DoctorOptions& options_;
  const driver::HostRoot root_;
  const std::string host_ = host_name();
  std::shared_ptr<const faults::PatternMatcher> matcher_;
  std::unique_ptr<Webhook> webhook_;
  faults::GpuInspection inspection_;
  faults::GpuAccess access_;
  std::unique_ptr<faults::KernelLogFollower> kernel_log_;  // null: it cannot be read
  faults::EventMemory memory_;
  faults::FaultWatch watch_;
  std::vector<std::string> addresses_;  // by NVML's index
  std::set<std::string> told_gaps_;
  bool first_ = true;
};

Result<std::unique_ptr<Webhook>> open_webhook(const DoctorOptions& options) {
  std::string address = options.webhook;
  if (const char* variable = std::getenv("PAGODA_WEBHOOK"); address.empty() && variable != nullptr)
    address = variable;
  if (address.empty()) return std::unique_ptr<Webhook>();
  WebhookOptions chosen;
  auto url = http::Url::parse(address);
  // Its own message would repeat the address, which may be a secret.
  if (!url)
    return fail(ErrorCode::kInvalidArgument, "--webhook is no http:// or https:// address that can be used",
                "webhook");
  chosen.url = std::move(*url);
  if (!options.webhook_token_file.empty()) {
    PAGODA_ASSIGN(chosen.token, read_whole_file(options.webhook_token_file, 65536));
    while (!chosen.token.empty() && std::isspace(static_cast<unsigned char>(chosen.token.back())) != 0)
      chosen.token.pop_back();
    if (chosen.token.find_first_of("\r\n") != std::string::npos)
      return fail(ErrorCode::kInvalidArgument,
                  format("{} holds more than one line", options.webhook_token_file), "webhook-token-file");
  }
  return std::make_unique<Webhook>(std::move(chosen));
}

Result<int> watch(const DoctorOptions& options) {
  const StopSignals stop;
  PAGODA_ASSIGN(auto root, driver::HostRoot::open(options.root));
  PAGODA_ASSIGN(auto webhook, open_webhook(options));
  PAGODA_ASSIGN(auto matcher, faults::PatternMatcher::create(faults::section_marks()));
  return DoctorWatch(options, std::move(root), std::move(matcher), std::move(webhook)).run(stop);
}

}  // namespace

int run_doctor_watch(const DoctorOptions& options) {
  const auto ended = watch(options);
  if (ended) return *ended;
  fmt::print(stderr, "pagoda doctor: {}\n", ended.error().message);
  return kExitNotExamined;
}

}  // namespace pagoda::app
