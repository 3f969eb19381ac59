#include "app/serve.h"

#include <unistd.h>
#include <csignal>
#include <ctime>
#include <thread>

#include "app/llm_server.h"
#include "app/subcommands.h"
#include "base/log.h"

namespace pagoda::app {
namespace {

constexpr double kStatsInterval_s = 10;

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

// True when one of the ending signals came within the time.
bool signalled_within(double seconds) {
  const sigset_t set = ending_signals();
  const timespec time{static_cast<time_t>(seconds),
                      static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  return sigtimedwait(&set, nullptr, &time) > 0;
}

// While the model loads there is nothing to drain: a signal ends the program at once.
class EndWhileLoading {
 public:
  EndWhileLoading() : waiter_([](std::stop_token stop) { wait(stop); }) {}

 private:
  static void wait(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (!signalled_within(0.02)) continue;
      log::info("ended by a signal while loading");
      _exit(kExitOk);
    }
  }
  std::jthread waiter_;
};

// A line of throughput every ten seconds in which something was computed.
class ThroughputLog {
 public:
  void report(const engine::EngineStats& stats) {
    const double seconds = watch_.seconds();
    if (seconds < kStatsInterval_s) return;
    watch_.restart();
    const auto prompt = static_cast<double>(stats.prompt_tokens - prompt_tokens_) / seconds;
    const auto generated = static_cast<double>(stats.generation_tokens - generation_tokens_) / seconds;
    prompt_tokens_ = stats.prompt_tokens;
    generation_tokens_ = stats.generation_tokens;
    if (prompt == 0 && generated == 0) return;
    log::info("prompt {:.1f} tok/s, generation {:.1f} tok/s, {} running, {} waiting, KV {:.1f} % in use",
              prompt, generated, stats.running, stats.waiting, 100 * stats.kv_usage);
  }

 private:
  Stopwatch watch_;
  int64_t prompt_tokens_ = 0, generation_tokens_ = 0;
};

// Until a signal comes or the engine is lost.
int run_until_signal(LlmServer& server, const ServeOptions& options) {
  ThroughputLog throughput;
  while (!signalled_within(1)) {
    if (!server.alive()) {
      log::error("the engine has stopped after repeated failures; see the errors above");
      return kExitFailure;
    }
    if (options.log_stats) throughput.report(server.stats());
  }
  return kExitOk;
}

void drain(LlmServer& server, int timeout_s) {
  log::info("draining: {} running, {} waiting, {} s at most; another signal ends at once",
            server.stats().running, server.stats().waiting, timeout_s);
  server.begin_drain();
  Stopwatch watch;
  while (!server.idle() && watch.seconds() < timeout_s) {
    if (signalled_within(0.05)) {
      log::warning("ended at once by a second signal");
      _exit(kExitFailure);
    }
  }
  log::info("{}", server.idle() ? "drained, ended" : "time is up: the remaining requests are cut off");
}

}  // namespace

int serve(const ServeOptions& options, const std::filesystem::path& model) {
  // Before any thread starts: all of them inherit the mask, and only sigtimedwait sees the signals.
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  auto server = [&] {
    const EndWhileLoading ender;
    return LlmServer::start(options, model);
  }();
  if (!server) {
    log::error("{}", server.error().message);
    return kExitFailure;
  }
  const int exit_code = run_until_signal(**server, options);
  if (exit_code == kExitOk) drain(**server, options.shutdown_timeout_s);
  return exit_code;
}

}  // namespace pagoda::app
