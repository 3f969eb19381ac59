// An answer depends on its request alone: not on the crowd, on chunks, on preemption, on prefix hits or on
// shared blocks. And whatever arrives, blocks are conserved, budgets are kept and everyone ends once.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "engine/answers.h"
#include "engine/engine.h"
#include "engine/oracle_drafter.h"

namespace pagoda::engine {
namespace {

constexpr int kVocabulary = 60;
constexpr int kBlock = 4;

struct Regime {
  const char* name;
  std::vector<int> windows;  // one KV group each; 0: the whole context
  std::vector<int> blocks;
  int swap_blocks;
  int max_num_seqs;
  int max_num_batched_tokens;
  int threshold;
  bool prefix_caching;
  friend std::ostream& operator<<(std::ostream& out, const Regime& regime) { return out << regime.name; }

  bool preempts, swaps;  // what must have happened for the test to mean something
  int drafts = 0;        // guesses per sequence and step: two right ones, then a wrong one
};

class Invariance : public testing::TestWithParam<Regime> {
 protected:
  void start(SchedulingPolicy policy = SchedulingPolicy::kFcfs) {
    const Regime& regime = GetParam();
    KvCapacity capacity;
    capacity.block_size = kBlock;
    for (const int window : regime.windows) {
      model::KvGroup group;
      group.window = window;
      capacity.layout.push_back(group);
      capacity.swap_blocks.push_back(regime.swap_blocks);
      capacity.block_bytes.push_back(kBlock * 100);
    }
    capacity.blocks = regime.blocks;
    layout_ = capacity.layout;
    EngineConfig config;
    config.max_model_len = 120;
    config.max_num_seqs = regime.max_num_seqs;
    config.max_num_batched_tokens = regime.max_num_batched_tokens;
    config.long_prefill_token_threshold = regime.threshold;
    config.prefix_caching = regime.prefix_caching;
    config.max_queued_requests = 100000;
    config.policy = policy;
    auto runner = std::make_unique<FakeRunner>(kVocabulary, std::move(capacity));
    runner->before_step = [this](const StepPlan&) -> Status {
      while (held_) std::this_thread::yield();
      check_waste();
      return {};
    };
    seen_ = runner->seen();
    config.draft_tokens = regime.drafts;
    std::unique_ptr<Drafter> drafter;
    if (regime.drafts > 0) drafter = std::make_unique<OracleDrafter>(kVocabulary, layout_, 2);
    engine_ = Engine::start(config, std::move(runner), std::move(drafter));
  }

  // As of the step before: no more than a block per sequence and group is allocated and unused, and the room
  // of guesses.
  void check_waste() {
    const EngineStats stats = engine_ ? engine_->stats() : EngineStats();
    const auto groups = static_cast<int64_t>(layout_.size());
    EXPECT_LE(stats.kv_waste_bytes, stats.running * groups * (kBlock + GetParam().drafts) * 100);
    EXPECT_LE(stats.kv_usage, 1.0);
    ++waste_checks_;
  }

  // A request that anyone can repeat: greedy or seeded, of prompts that share beginnings with others.
  Request random_request(std::mt19937& random, int longest) const {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Request request;
    const int size = 1 + below(longest);
    const int family = below(3);
    for (int i = 0; i < size; ++i) request.prompt.push_back((i * 7 + family) % kVocabulary);
    if (below(2) != 0) request.prompt.back() = below(kVocabulary);
    request.sampling.max_tokens = 1 + below(40);
    request.sampling.ignore_eos = true;
    request.sampling.temperature = below(2) != 0 ? 0.f : 0.9f;
    request.sampling.seed = random();
    if (below(4) == 0) request.sampling.top_p = 0.8f;
    if (below(4) == 0) request.sampling.repetition_penalty = 1.3f;
    if (below(4) == 0) request.n = 2 + below(2);
    if (below(4) == 0) request.sampling.frequency_penalty = 0.5f;
    return request;
  }

  void submit(int number, Request request) {
    request.sink = answers_.sink(number, request.n);
    const auto id = engine_->submit(std::move(request));
    ASSERT_TRUE(id.has_value()) << id.error().message;
    ids_[number] = *id;
  }

  void expect_answer(int number, const Request& request) {
    for (int choice = 0; choice < request.n; ++choice) {
      const Answer answer = answers_.of(number, choice);
      EXPECT_EQ(answer.finishes, 1);
      EXPECT_EQ(answer.tokens,
                expected_answer(request.prompt, request.sampling, choice, layout_, kVocabulary))
          << "request " << number << " choice " << choice << " " << answer.finish.error.message;
    }
  }

  void expect_conserved() {
    while (!engine_->idle()) std::this_thread::yield();
    const EngineStats stats = engine_->stats();
    EXPECT_EQ(stats.free_blocks, stats.total_blocks);
    EXPECT_EQ(stats.running + stats.waiting + stats.swapped, 0);
    EXPECT_EQ(stats.kv_waste_bytes, 0);
    EXPECT_LE(seen_->rows_max, GetParam().max_num_batched_tokens);
    EXPECT_LE(seen_->sequences_max, GetParam().max_num_seqs);
    EXPECT_GT(waste_checks_, 0);
  }

  Answers answers_;
  std::map<int, RequestId> ids_;
  model::KvLayout layout_;
  std::shared_ptr<FakeRunner::Seen> seen_;
  std::atomic<bool> held_{false};
  int waste_checks_ = 0;
  std::unique_ptr<Engine> engine_;
};

TEST_P(Invariance, TheSameAnswerAloneAndInACrowd) {
  held_ = true;
  start();
  std::mt19937 random(5);
  std::vector<Request> requests;
  for (int i = 0; i < 32; ++i) requests.push_back(random_request(random, 50));
  for (int i = 0; i < 32; ++i) submit(i, requests[static_cast<size_t>(i)]);
  held_ = false;
  ASSERT_TRUE(answers_.wait());
  for (int i = 0; i < 32; ++i) expect_answer(i, requests[static_cast<size_t>(i)]);
  // Once more, one by one, now with everything in the prefix index.
  for (int i = 0; i < 8; ++i) {
    submit(100 + i, requests[static_cast<size_t>(i)]);
    ASSERT_TRUE(answers_.wait());
    expect_answer(100 + i, requests[static_cast<size_t>(i)]);
  }
  expect_conserved();
  const EngineStats stats = engine_->stats();
  if (GetParam().prefix_caching) {
    EXPECT_GT(stats.prefix_hits, 0);
  }
  if (!GetParam().prefix_caching) {
    EXPECT_EQ(stats.prefix_hits, 0);
  }
  if (GetParam().preempts) {
    EXPECT_GT(stats.preemptions, 0);
  }
  EXPECT_EQ(!stats.accepted_drafts.empty(), GetParam().drafts > 0);
  if (GetParam().drafts > 0) {
    EXPECT_GT(stats.accepted_drafts.front(), 20);
  }
  if (GetParam().swaps) {
    EXPECT_GT(stats.swapped_out_bytes, 0);
  }
  EXPECT_EQ(stats.swapped_in_bytes > 0, GetParam().swaps);
  EXPECT_EQ(seen_->swaps_in > 0, GetParam().swaps);
  // Choices that run at the same time write to a block that they share.
  EXPECT_EQ(seen_->copies > 0, GetParam().max_num_seqs > 1);
}

TEST_P(Invariance, RandomArrivalsAndCancels) {
  for (const auto policy : {SchedulingPolicy::kFcfs, SchedulingPolicy::kPriority}) {
    start(policy);
    std::mt19937 random(policy == SchedulingPolicy::kFcfs ? 77 : 78);
    const int base = policy == SchedulingPolicy::kFcfs ? 0 : 1000;
    std::map<int, Request> requests;
    std::map<int, bool> cancelled;
    for (int i = base; i < base + 150; ++i) {
      Request request = random_request(random, 60);
      request.priority = static_cast<int>(random() % 3);
      if (random() % 3 == 0) request.cache_salt = "s" + std::to_string(random() % 2);
      submit(i, request);
      requests[i] = std::move(request);
      if (random() % 5 == 0) {
        const int victim = base + static_cast<int>(random() % static_cast<unsigned>(i - base + 1));
        engine_->cancel(ids_[victim]);
        cancelled[victim] = true;
      }
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
    ASSERT_TRUE(answers_.wait());
    for (const auto& [number, request] : requests) {
      if (!cancelled[number]) {
        expect_answer(number, request);
        continue;
      }
      for (int choice = 0; choice < request.n; ++choice) {
        const Answer answer = answers_.of(number, choice);
        EXPECT_EQ(answer.finishes, 1);
        const auto whole = expected_answer(request.prompt, request.sampling, choice, layout_, kVocabulary);
        ASSERT_LE(answer.tokens.size(), whole.size());
        EXPECT_TRUE(std::equal(answer.tokens.begin(), answer.tokens.end(), whole.begin()));
      }
    }
    expect_conserved();
    engine_.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Regimes, Invariance,
    testing::Values(Regime{"roomy", {0}, {2000}, 0, 64, 512, 0, true, false, false},
                    Regime{"chunked", {0}, {2000}, 0, 16, 9, 0, true, false, false},
                    Regime{"threshold", {0}, {2000}, 0, 16, 64, 5, true, false, false},
                    Regime{"uncached", {0}, {2000}, 0, 64, 512, 0, false, false, false},
                    Regime{"recomputed", {0}, {40}, 0, 16, 64, 0, true, true, false},
                    Regime{"recomputed_uncached", {0}, {40}, 0, 16, 64, 0, false, true, false},
                    Regime{"swapped", {0}, {40}, 500, 16, 64, 0, true, true, true},
                    Regime{"some_swapped", {0}, {40}, 15, 16, 32, 0, true, true, true},
                    Regime{"tight", {0}, {26}, 30, 16, 7, 0, true, true, true},
                    Regime{"windows", {0, 9}, {2000, 600}, 0, 64, 512, 0, true, false, false},
                    Regime{"windows_recomputed", {0, 9}, {60, 30}, 0, 16, 24, 0, true, true, false},
                    Regime{"windows_swapped", {0, 9, 16}, {60, 30, 40}, 300, 16, 24, 0, true, true, true},
                    Regime{"small_window_pool", {0, 9}, {200, 7}, 20, 16, 64, 0, true, true, true},
                    Regime{"windows_only", {12}, {30}, 40, 16, 16, 0, true, true, true},
                    Regime{"one_at_a_time", {0}, {40}, 0, 1, 16, 0, true, false, false},
                    Regime{"guessed", {0}, {2000}, 0, 64, 512, 0, true, false, false, 3},
                    Regime{"guessed_recomputed", {0}, {40}, 0, 16, 64, 0, true, true, false, 5},
                    Regime{"guessed_swapped", {0, 9}, {60, 30}, 300, 16, 24, 0, true, true, true, 4},
                    Regime{"guessed_in_windows", {0, 9}, {2000, 600}, 0, 16, 64, 0, false, false, false, 7}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(InvarianceOfSalts, EqualPromptsOfDifferentSaltsShareNothing) {
  KvCapacity capacity;
  capacity.block_size = kBlock;
  capacity.layout.resize(1);
  capacity.blocks = {100};
  capacity.block_bytes = {100};
  EngineConfig config;
  config.max_model_len = 100;
  Answers answers;
  const auto engine = Engine::start(config, std::make_unique<FakeRunner>(kVocabulary, capacity));
  const auto ask = [&](int number, const char* salt) {
    Request request;
    request.prompt.assign(41, 3);
    request.sampling.max_tokens = 2;
    request.sampling.temperature = 0;
    request.cache_salt = salt;
    request.sink = answers.sink(number, 1);
    EXPECT_TRUE(engine->submit(std::move(request)));
    EXPECT_TRUE(answers.wait());
    return answers.of(number).cached_tokens;
  };
  EXPECT_EQ(ask(0, "a"), 0);
  EXPECT_EQ(ask(1, "b"), 0);
  EXPECT_EQ(ask(2, ""), 0);
  EXPECT_EQ(ask(3, "a"), 40);
}

}  // namespace
}  // namespace pagoda::engine
