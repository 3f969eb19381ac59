#include "engine/engine.h"

#include <algorithm>
#include <thread>

#include "base/check.h"
#include "base/format.h"
#include "engine/engine_loop.h"

namespace pagoda::engine {

namespace {

// As vLLM limits it.
constexpr int kMostChoices = 16384;

// Spreads consecutive numbers over all of 64 bits (the finaliser of SplitMix64).
uint64_t spread(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

Status check_request(const Request& request, const EngineConfig& config, int vocabulary) {
  const int size = static_cast<int>(request.prompt.size());
  if (size == 0)
    return fail(ErrorCode::kInvalidArgument, "the prompt is empty: it needs at least one token", "prompt");
  const int room = config.max_model_len - (request.sampling.max_tokens > 0 ? 1 : 0);
  if (size > room) {
    return fail(
        ErrorCode::kInvalidArgument,
        format("the prompt has {} tokens, and the context of {} leaves room for {}: shorten the prompt", size,
               config.max_model_len, room),
        "prompt");
  }
  for (const int32_t token : request.prompt) {
    if (token < 0 || token >= vocabulary) {
      return fail(ErrorCode::kInvalidArgument,
                  format("the prompt's token {} is not in the vocabulary [0, {})", token, vocabulary),
                  "prompt");
    }
  }
  if (request.n < 1 || request.n > kMostChoices) {
    return fail(ErrorCode::kInvalidArgument, format("n must be in [1, {}], got {}", kMostChoices, request.n),
                "n");
  }
  return check_sampling(request.sampling, vocabulary);
}

class ThreadedEngine final : public Engine {
 public:
  ThreadedEngine(EngineConfig config, std::unique_ptr<ModelRunner> runner, std::unique_ptr<Drafter> drafter)
      : config_(std::move(config)),
        vocabulary_(runner->vocabulary()),
        runner_(std::move(runner)),
        drafter_(std::move(drafter)),
        loop_(config_, *runner_, drafter_.get(), state_),
        thread_([this] { loop_.run(); }) {}

  ~ThreadedEngine() override {
    state_.mailbox.stop();
    thread_.join();
  }

  Result<RequestId> submit(Request request) override {
    PAGODA_TRY(check_request(request, config_, vocabulary_));
    PAGODA_CHECK(request.sink != nullptr, "a request needs a sink");
    PAGODA_TRY(take_place());
    std::unique_ptr<ActiveRequest> active;
    try {
      active = activate(std::move(request));
    } catch (const std::exception& thrown) {  // memory, or what makes a grammar
      --state_.queued;
      return fail(ErrorCode::kInternal, format("the request could not be set up: {}", thrown.what()));
    }
    const RequestId id = active->id;
    ++state_.open;
    loop_.stats().arrived(*active);
    if (state_.mailbox.post(active)) return id;
    --state_.open;
    --state_.queued;
    return unavailable();
  }

  void cancel(RequestId id) override { state_.mailbox.cancel(id); }

  EngineStats stats() const override {
    EngineStats stats = loop_.stats().snapshot();
    stats.waiting += state_.mailbox.requests();
    return stats;
  }

  bool alive() const override { return state_.alive; }
  void begin_drain() override { state_.draining = true; }
  bool idle() const override { return state_.open == 0; }

 private:
  Unexpected unavailable() const {
    return state_.alive
               ? fail(ErrorCode::kUnavailable, "the server is shutting down and takes no new requests")
               : fail(ErrorCode::kUnavailable,
                      "the engine has stopped after repeated failures: restart the server");
  }

  // In the queue; given back when the request first runs.
  Status take_place() {
    if (state_.draining || !state_.alive) return unavailable();
    const int most =
        config_.max_queued_requests > 0 ? config_.max_queued_requests : 16 * config_.max_num_seqs;
    if (state_.queued.fetch_add(1) < most) return {};
    --state_.queued;
    return fail(ErrorCode::kResourceExhausted,
                format("the queue is full with {} waiting requests: try again later", most));
  }

  std::unique_ptr<ActiveRequest> activate(Request request) {
    auto active = std::make_unique<ActiveRequest>();
    active->id = next_id_.fetch_add(1);
    active->arrived = Clock::now();
    active->request = std::move(request);
    const Request& asked = active->request;
    const uint64_t seed = asked.sampling.seed.value_or(spread(spread(config_.seed) + active->id));
    for (int i = 0; i < asked.n; ++i) {
      auto choice = std::make_unique<Choice>();
      choice->request = active.get();
      choice->id = next_sequence_.fetch_add(1);
      choice->arrival = active->id;
      choice->choice = i;
      choice->priority = config_.policy == SchedulingPolicy::kPriority ? asked.priority : 0;
      choice->name_space = asked.cache_salt;
      choice->samples = asked.sampling.max_tokens > 0;
      choice->sampling.emplace(asked.sampling, asked.prompt, config_.end_tokens, seed, i, vocabulary_);
      if (asked.make_stop_watcher) choice->watcher = asked.make_stop_watcher();
      if (asked.make_constraint) choice->constraint = asked.make_constraint();
      active->choices.push_back(std::move(choice));
    }
    active->unfinished = asked.n;
    Choice& first = *active->choices.front();
    first.prompt_size = static_cast<int>(asked.prompt.size());
    first.tokens = std::move(active->request.prompt);
    if (asked.sampling.prompt_logprobs) {
      // Found blocks bring no logits.
      first.prompt_rows = first.prompt_size - 1;
      first.reuse_prefix = false;
    }
    return active;
  }

  const EngineConfig config_;
  const int vocabulary_;
  const std::unique_ptr<ModelRunner> runner_;
  const std::unique_ptr<Drafter> drafter_;
  EngineState state_;
  std::atomic<RequestId> next_id_{1};
  std::atomic<uint64_t> next_sequence_{1};
  EngineLoop loop_;
  std::thread thread_;  // the last one made, so that all the rest is there when it starts
};

}  // namespace

std::unique_ptr<Engine> Engine::start(EngineConfig config, std::unique_ptr<ModelRunner> runner,
                                      std::unique_ptr<Drafter> drafter) {
  PAGODA_CHECK(runner != nullptr, "an engine needs a runner");
  PAGODA_CHECK(config.max_model_len > 0, "an engine needs a context length");
  return std::make_unique<ThreadedEngine>(std::move(config), std::move(runner), std::move(drafter));
}

}  // namespace pagoda::engine
