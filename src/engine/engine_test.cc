// The engine's promises to one request: how it ends, what is reported, whose fault is whose.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "engine/answers.h"

namespace pagoda::engine {
namespace {

constexpr int kVocabulary = 50;

KvCapacity one_group(int blocks, int swap_blocks = 0) {
  KvCapacity capacity;
  capacity.block_size = 4;
  capacity.layout.resize(1);
  capacity.blocks = {blocks};
  capacity.swap_blocks = {swap_blocks};
  capacity.block_bytes = {4096};
  return capacity;
}

EngineConfig small_config() {
  EngineConfig config;
  config.max_model_len = 200;
  config.max_num_seqs = 8;
  config.max_num_batched_tokens = 64;
  return config;
}

class EngineTest : public testing::Test {
 protected:
  void start(EngineConfig config, KvCapacity capacity = one_group(64)) {
    layout_ = capacity.layout;
    auto runner = std::make_unique<FakeRunner>(kVocabulary, std::move(capacity));
    runner->before_step = before_step_;
    runner->on_row = on_row_;
    seen_ = runner->seen();
    engine_ = Engine::start(std::move(config), std::move(runner));
  }
  static Request request(std::vector<int32_t> prompt, int max_tokens) {
    Request request;
    request.prompt = std::move(prompt);
    request.sampling.temperature = 0;
    request.sampling.max_tokens = max_tokens;
    request.sampling.ignore_eos = true;
    return request;
  }
  Result<RequestId> submit(int number, Request request) {
    const int n = request.n;
    request.sink = answers_.sink(number, n);
    auto id = engine_->submit(std::move(request));
    if (!id) answers_.forget(number, n);
    return id;
  }
  std::vector<int32_t> expected(const Request& request, int choice = 0) const {
    return expected_answer(request.prompt, request.sampling, choice, layout_, kVocabulary);
  }
  void expect_all_blocks_free() {
    while (!engine_->idle()) std::this_thread::yield();
    const EngineStats stats = engine_->stats();
    EXPECT_EQ(stats.free_blocks, stats.total_blocks);
    EXPECT_EQ(stats.running + stats.waiting + stats.swapped, 0);
    EXPECT_EQ(stats.kv_used_bytes, 0);
    EXPECT_EQ(stats.kv_waste_bytes, 0);
  }

  Answers answers_;
  model::KvLayout layout_;
  std::function<Status(const StepPlan&)> before_step_;
  std::function<void(uint64_t, int, std::span<float>)> on_row_;
  std::shared_ptr<FakeRunner::Seen> seen_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, AnswersWithTheModelsTokens) {
  start(small_config());
  const Request asked = request({1, 2, 3, 4, 5}, 30);
  ASSERT_TRUE(submit(0, asked));
  ASSERT_TRUE(answers_.wait());
  const Answer answer = answers_.of(0);
  EXPECT_EQ(answer.tokens, expected(asked));
  EXPECT_EQ(answer.finish.reason, FinishReason::kLength);
  expect_all_blocks_free();
}

TEST_F(EngineTest, RefusesWhatCannotBeAnswered) {
  start(small_config());
  const auto refused = [&](Request asked) {
    const auto id = submit(0, std::move(asked));
    return id ? Error{} : id.error();
  };
  EXPECT_EQ(refused(request({}, 5)).param, "prompt");
  const Error long_prompt = refused(request(std::vector<int32_t>(200, 1), 5));
  EXPECT_EQ(long_prompt.code, ErrorCode::kInvalidArgument);
  EXPECT_NE(long_prompt.message.find("200 tokens"), std::string::npos);
  EXPECT_NE(long_prompt.message.find("199"), std::string::npos);
  EXPECT_EQ(refused(request({50}, 5)).param, "prompt");
  Request asked = request({1}, 5);
  asked.n = 0;
  EXPECT_EQ(refused(asked).param, "n");
  asked = request({1}, 5);
  asked.sampling.top_p = -1;
  EXPECT_EQ(refused(asked).param, "top_p");
  EXPECT_TRUE(engine_->idle());
}

TEST_F(EngineTest, StopsAtTheContextsEnd) {
  start(small_config());
  ASSERT_TRUE(submit(0, request(std::vector<int32_t>(195, 3), 50)));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(answers_.of(0).tokens.size(), 5u);
  EXPECT_EQ(answers_.of(0).finish.reason, FinishReason::kLength);
}

TEST_F(EngineTest, StopsAtEndAndStopTokens) {
  Request asked = request({7, 8, 9}, 40);
  layout_.resize(1);
  const auto tokens = expected(asked);
  const int32_t token = tokens[10];
  const size_t first = static_cast<size_t>(std::ranges::find(tokens, token) - tokens.begin());

  EngineConfig config = small_config();
  config.end_tokens = {token};
  start(config);
  ASSERT_TRUE(submit(0, asked));  // ignores it
  asked.sampling.ignore_eos = false;
  ASSERT_TRUE(submit(1, asked));
  asked.sampling.ignore_eos = true;
  asked.sampling.stop_token_ids = {token};
  ASSERT_TRUE(submit(2, asked));
  asked.sampling.min_tokens = static_cast<int>(first) + 1;
  ASSERT_TRUE(submit(3, asked));
  ASSERT_TRUE(answers_.wait());

  EXPECT_EQ(answers_.of(0).tokens, tokens);
  for (const int number : {1, 2}) {
    EXPECT_EQ(answers_.of(number).tokens.size(), first + 1);
    EXPECT_EQ(answers_.of(number).finish.reason, FinishReason::kStop);
  }
  EXPECT_FALSE(answers_.of(1).finish.stop_token.has_value());
  EXPECT_EQ(answers_.of(2).finish.stop_token, token);
  EXPECT_GT(answers_.of(3).tokens.size(), first + 1);
  EXPECT_NE(answers_.of(3).tokens[first], token);
}

class StopAt final : public StopWatcher {
 public:
  explicit StopAt(int tokens) : left_(tokens) {}
  std::optional<std::string> accept(int32_t) override {
    if (--left_ > 0) return std::nullopt;
    return "stop here";
  }

 private:
  int left_;
};

TEST_F(EngineTest, StopStringsEndAnAnswerButNotBeforeMinTokens) {
  start(small_config());
  Request asked = request({1, 2}, 20);
  asked.make_stop_watcher = [] { return std::make_unique<StopAt>(4); };
  ASSERT_TRUE(submit(0, asked));
  asked.sampling.min_tokens = 6;
  ASSERT_TRUE(submit(1, asked));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(answers_.of(0).tokens.size(), 4u);
  EXPECT_EQ(answers_.of(0).finish.stop_string, "stop here");
  EXPECT_EQ(answers_.of(1).tokens.size(), 6u);
}

// Allows `first`, then `first` + 1, and so on for `length` tokens.
class Counting final : public TokenConstraint {
 public:
  Counting(int32_t first, int length, bool throws) : next_(first), left_(length), throws_(throws) {}
  void fill_mask(std::span<uint32_t> mask) override {
    if (throws_) throw std::runtime_error("a broken grammar");
    mask[static_cast<size_t>(next_) / 32] |= 1u << (next_ % 32);
  }
  bool accept(int32_t token) override { return token == next_++ && left_-- > 0; }
  void rollback(int) override {}
  bool finished() const override { return left_ == 0; }

 private:
  int32_t next_;
  int left_;
  bool throws_;
};

TEST_F(EngineTest, AConstraintGuidesAndEndsTheAnswer) {
  start(small_config());
  Request asked = request({1, 2}, 20);
  asked.n = 2;
  asked.make_constraint = [] { return std::make_unique<Counting>(10, 5, false); };
  ASSERT_TRUE(submit(0, asked));
  asked.make_constraint = [] { return std::make_unique<Counting>(10, 5, true); };
  ASSERT_TRUE(submit(1, asked));
  ASSERT_TRUE(answers_.wait());
  for (const int choice : {0, 1}) {
    EXPECT_EQ(answers_.of(0, choice).tokens, (std::vector<int32_t>{10, 11, 12, 13, 14}));
    EXPECT_EQ(answers_.of(0, choice).finish.reason, FinishReason::kStop);
    EXPECT_EQ(answers_.of(1, choice).finish.reason, FinishReason::kError);
    EXPECT_NE(answers_.of(1, choice).finish.error.message.find("a broken grammar"), std::string::npos);
  }
  expect_all_blocks_free();
}

TEST_F(EngineTest, MaxTokensZeroComputesThePromptOnly) {
  start(small_config());
  Request asked = request({1, 2, 3, 4, 5, 6}, 0);
  asked.sampling.prompt_logprobs = 2;
  ASSERT_TRUE(submit(0, asked));
  ASSERT_TRUE(submit(1, request({1, 2, 3}, 0)));
  ASSERT_TRUE(answers_.wait());
  EXPECT_TRUE(answers_.of(0).tokens.empty());
  EXPECT_EQ(answers_.of(0).finish.reason, FinishReason::kLength);
  EXPECT_EQ(answers_.of(0).prompt_logprobs.size(), 5u);
  EXPECT_EQ(answers_.of(1).finish.reason, FinishReason::kLength);
}

TEST_F(EngineTest, PromptLogprobsAreThoseOfEachPromptTokenEvenInChunksAndAfterAHit) {
  EngineConfig config = small_config();
  config.max_num_batched_tokens = 5;
  start(config);
  std::vector<int32_t> prompt(23);
  std::iota(prompt.begin(), prompt.end(), 2);
  Request asked = request(prompt, 3);
  ASSERT_TRUE(submit(0, asked));
  ASSERT_TRUE(answers_.wait());
  asked.sampling.prompt_logprobs = 3;
  asked.n = 2;
  ASSERT_TRUE(submit(1, asked));
  ASSERT_TRUE(answers_.wait());
  const Answer answer = answers_.of(1);
  ASSERT_EQ(answer.prompt_logprobs.size(), 22u);
  std::vector<float> row(kVocabulary);
  for (size_t i = 0; i < 22; ++i) {
    FakeRunner::expected_logits({prompt.data(), i + 1}, layout_, row);
    double sum = 0;
    for (const float logit : row) sum += std::exp(static_cast<double>(logit));
    const SampledToken& got = answer.prompt_logprobs[i];
    EXPECT_EQ(got.token, prompt[i + 1]);
    EXPECT_EQ(got.top.size(), 3u);
    EXPECT_NEAR(static_cast<double>(got.chosen->logprob),
                static_cast<double>(row[static_cast<size_t>(prompt[i + 1])]) - std::log(sum), 1e-4);
  }
  EXPECT_EQ(answer.tokens, expected(request(prompt, 3)));
  EXPECT_TRUE(answers_.of(1, 1).prompt_logprobs.empty());
}

TEST_F(EngineTest, CancelsWithinOneStep) {
  std::atomic<int> steps{0};
  std::atomic<RequestId> id{0};
  before_step_ = [&](const StepPlan&) -> Status {
    while (id == 0) std::this_thread::yield();
    if (++steps == 10) engine_->cancel(id);
    return {};
  };
  start(small_config());
  id = *submit(0, request({1, 2, 3}, 150));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(answers_.of(0).finish.reason, FinishReason::kAbort);
  EXPECT_EQ(answers_.of(0).tokens.size(), 10u);  // the step that was under way is the last one
  EXPECT_EQ(steps, 10);
  engine_->cancel(id);
  engine_->cancel(999);
  expect_all_blocks_free();
}

TEST_F(EngineTest, EveryChoiceEndsOnceWhenCancelledBeforeTheFork) {
  std::atomic<int> steps{0};
  before_step_ = [&](const StepPlan&) -> Status {
    if (++steps == 2) engine_->cancel(1);
    return {};
  };
  EngineConfig config = small_config();
  config.max_num_batched_tokens = 4;
  start(config);
  Request asked = request(std::vector<int32_t>(40, 1), 10);
  asked.n = 3;
  ASSERT_TRUE(submit(0, asked));
  ASSERT_TRUE(answers_.wait());
  for (int choice = 0; choice < 3; ++choice) {
    EXPECT_EQ(answers_.of(0, choice).finish.reason, FinishReason::kAbort);
    EXPECT_TRUE(answers_.of(0, choice).tokens.empty());
  }
  expect_all_blocks_free();
}

TEST_F(EngineTest, TheQueueIsBoundedAndAPlaceComesFreeAgain) {
  std::atomic<bool> go{false};
  before_step_ = [&](const StepPlan&) -> Status {
    while (!go) std::this_thread::yield();
    return {};
  };
  EngineConfig config = small_config();
  config.max_num_seqs = 1;
  config.max_queued_requests = 2;
  start(config);
  ASSERT_TRUE(submit(0, request({1}, 5)));
  while (seen_->steps == 0 && engine_->stats().waiting > 0) std::this_thread::yield();
  // The first one runs (or waits for the model); two may queue.
  int accepted = 1;
  Result<RequestId> last = 0;
  for (int i = 1; i < 10 && last; ++i) {
    last = submit(i, request({1}, 5));
    accepted += last ? 1 : 0;
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, ErrorCode::kResourceExhausted);
  EXPECT_LE(accepted, 4);
  go = true;
  ASSERT_TRUE(answers_.wait());
  EXPECT_TRUE(submit(20, request({1}, 5)));
  ASSERT_TRUE(answers_.wait());
}

TEST_F(EngineTest, DrainsAndThenRefuses) {
  start(small_config());
  ASSERT_TRUE(submit(0, request({1, 2}, 50)));
  engine_->begin_drain();
  const auto refused = submit(1, request({1}, 5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(answers_.of(0).tokens.size(), 50u);
  while (!engine_->idle()) std::this_thread::yield();
  EXPECT_TRUE(engine_->alive());
}

TEST_F(EngineTest, ItsEndAbortsWhatIsLeft) {
  std::atomic<int> steps{0};
  before_step_ = [&](const StepPlan&) -> Status {
    ++steps;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {};
  };
  EngineConfig config = small_config();
  config.max_num_seqs = 2;
  start(config);
  for (int i = 0; i < 6; ++i) {
    Request asked = request({1, 2}, 190);
    asked.n = 2;
    ASSERT_TRUE(submit(i, asked));
  }
  ASSERT_TRUE(answers_.wait_for_tokens(0, 3));
  engine_.reset();
  ASSERT_TRUE(answers_.wait(1));
  for (const auto& [key, answer] : answers_.all()) {
    EXPECT_EQ(answer.finishes, 1);
    EXPECT_EQ(answer.finish.reason, FinishReason::kAbort);
  }
}

TEST_F(EngineTest, AFailedStepEndsItsRequestsAndTheEngineGoesOn) {
  std::atomic<int> steps{0};
  before_step_ = [&](const StepPlan&) -> Status {
    if (++steps == 5) return fail(ErrorCode::kInternal, "out of something");
    if (steps == 9) throw std::runtime_error("thrown");
    return {};
  };
  start(small_config());
  ASSERT_TRUE(submit(0, request({1, 2}, 20)));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(answers_.of(0).finish.reason, FinishReason::kError);
  EXPECT_EQ(answers_.of(0).finish.error.message, "out of something");
  EXPECT_EQ(answers_.of(0).tokens.size(), 4u);
  ASSERT_TRUE(submit(1, request({1, 2}, 20)));
  ASSERT_TRUE(answers_.wait());
  EXPECT_NE(answers_.of(1).finish.error.message.find("thrown"), std::string::npos);
  const Request asked = request({1, 2}, 20);
  ASSERT_TRUE(submit(2, asked));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(answers_.of(2).tokens, expected(asked));
  EXPECT_TRUE(engine_->alive());
  expect_all_blocks_free();
}

TEST_F(EngineTest, ThreeFailedStepsInARowAreTheEnd) {
  before_step_ = [](const StepPlan&) { return Status(fail(ErrorCode::kInternal, "broken")); };
  EngineConfig config = small_config();
  config.max_num_seqs = 1;
  start(config);
  for (int i = 0; i < 5; ++i) submit(i, request({1, 2}, 20));
  ASSERT_TRUE(answers_.wait());
  for (const auto& [key, answer] : answers_.all()) EXPECT_EQ(answer.finish.reason, FinishReason::kError);
  while (engine_->alive()) std::this_thread::yield();
  const auto refused = submit(9, request({1}, 5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  while (!engine_->idle()) std::this_thread::yield();
}

TEST_F(EngineTest, BrokenLogitsAreOneRequestsFault) {
  on_row_ = [](uint64_t sequence, int position, std::span<float> row) {
    if (sequence == 2 && position == 6) row[3] = std::numeric_limits<float>::quiet_NaN();
  };
  start(small_config());
  const Request asked = request({1, 2, 3}, 20);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(submit(i, asked));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(answers_.of(1).finish.reason, FinishReason::kError);
  EXPECT_EQ(answers_.of(1).tokens.size(), 4u);
  for (const int i : {0, 2}) EXPECT_EQ(answers_.of(i).tokens, expected(asked));
  expect_all_blocks_free();
}

TEST_F(EngineTest, ASinkThatThrowsIsCancelled) {
  start(small_config());
  Request asked = request({1, 2, 3}, 150);
  std::atomic<int> calls{0};
  asked.sink = [&](Update&&) {
    ++calls;
    throw std::runtime_error("gone");
  };
  ASSERT_TRUE(engine_->submit(asked));
  while (!engine_->idle()) std::this_thread::yield();
  EXPECT_LE(calls, 4);
  expect_all_blocks_free();
}

TEST_F(EngineTest, WhatCanNeverFitFailsAloneAndOthersGoOn) {
  start(small_config(), one_group(10));  // 40 tokens
  const Request fits = request({1, 2, 3}, 30), grows = request({4, 5, 6}, 100),
                never = request(std::vector<int32_t>(50, 2), 5);
  ASSERT_TRUE(submit(0, fits));
  ASSERT_TRUE(submit(1, grows));
  ASSERT_TRUE(submit(2, never));
  ASSERT_TRUE(submit(3, fits));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(answers_.of(0).tokens, expected(fits));
  EXPECT_EQ(answers_.of(3).tokens, expected(fits));
  EXPECT_EQ(answers_.of(1).finish.reason, FinishReason::kError);
  EXPECT_EQ(answers_.of(1).finish.error.code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(answers_.of(1).tokens.size(), 38u);  // 40 positions hold the prompt and 37 of the answer
  EXPECT_EQ(answers_.of(2).finish.reason, FinishReason::kError);
  expect_all_blocks_free();
}

TEST_F(EngineTest, PriorityGoesFirstUnderItsPolicyOnly) {
  for (const auto policy : {SchedulingPolicy::kFcfs, SchedulingPolicy::kPriority}) {
    std::atomic<bool> go{false};
    before_step_ = [&](const StepPlan&) -> Status {
      while (!go) std::this_thread::yield();
      return {};
    };
    EngineConfig config = small_config();
    config.max_num_seqs = 1;
    config.policy = policy;
    start(config);
    const int base = policy == SchedulingPolicy::kFcfs ? 0 : 10;
    ASSERT_TRUE(submit(base, request({9}, 3)));
    while (engine_->stats().waiting > 0 && seen_->steps == 0) std::this_thread::yield();
    for (int i = 1; i <= 3; ++i) {
      Request asked = request({i}, 3);
      asked.priority = 10 - i;
      ASSERT_TRUE(submit(base + i, asked));
    }
    go = true;
    ASSERT_TRUE(answers_.wait());
    engine_.reset();
  }
  const auto order = answers_.order_of_first_tokens();
  ASSERT_EQ(order.size(), 8u);
  const std::vector<int> expected_order = {0, 1, 2, 3, 10, 13, 12, 11};
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(order[i].first, expected_order[i]) << i;
}

TEST_F(EngineTest, NoStreamStallsBehindALongPrompt) {
  EngineConfig config = small_config();
  config.max_num_batched_tokens = 8;
  start(config);
  ASSERT_TRUE(submit(0, request({1, 2}, 60)));
  ASSERT_TRUE(answers_.wait_for_tokens(0, 5));
  const size_t before = answers_.of(0).tokens.size();
  ASSERT_TRUE(submit(1, request(std::vector<int32_t>(150, 2), 1)));
  ASSERT_TRUE(answers_.wait_for_tokens(1, 1));
  // The prompt takes 150 / 7 steps, and the stream moves in each of them.
  EXPECT_GE(answers_.of(0).tokens.size(), std::min<size_t>(before + 15, 60));
  EXPECT_LE(seen_->rows_max, 8);
  ASSERT_TRUE(answers_.wait());
}

TEST_F(EngineTest, LogprobsComeWithEachToken) {
  start(small_config());
  Request asked = request({1, 2}, 4);
  asked.sampling.logprobs = 2;
  ASSERT_TRUE(submit(0, asked));
  ASSERT_TRUE(answers_.wait());
  for (const SampledToken& token : answers_.of(0).sampled) {
    ASSERT_TRUE(token.chosen.has_value());
    EXPECT_EQ(token.chosen->token, token.token);
    EXPECT_EQ(token.chosen->rank, 1);
    ASSERT_EQ(token.top.size(), 2u);
    EXPECT_EQ(token.top[0].token, token.token);
    EXPECT_GE(token.top[0].logprob, token.top[1].logprob);
  }
}

TEST_F(EngineTest, UnseededRequestsDifferAndRepeatWithTheEnginesSeed) {
  const auto run = [&](uint64_t seed, int base) {
    EngineConfig config = small_config();
    config.seed = seed;
    start(config);
    Request asked = request({1, 2}, 20);
    asked.sampling.temperature = 1;
    EXPECT_TRUE(submit(base, asked));
    EXPECT_TRUE(submit(base + 1, asked));
    EXPECT_TRUE(answers_.wait());
    engine_.reset();
  };
  run(1, 0);
  run(1, 2);
  run(2, 4);
  EXPECT_NE(answers_.of(0).tokens, answers_.of(1).tokens);
  EXPECT_EQ(answers_.of(0).tokens, answers_.of(2).tokens);
  EXPECT_NE(answers_.of(0).tokens, answers_.of(4).tokens);
}

TEST_F(EngineTest, StatsCountWhatHappened) {
  start(small_config());
  Request asked = request({1, 2, 3, 4, 5, 6, 7, 8, 9}, 10);
  ASSERT_TRUE(submit(0, asked));
  ASSERT_TRUE(answers_.wait());
  asked.n = 3;
  ASSERT_TRUE(submit(1, asked));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(answers_.of(1).cached_tokens, 8);
  expect_all_blocks_free();
  const EngineStats stats = engine_->stats();
  EXPECT_EQ(stats.prompt_tokens, 18);
  EXPECT_EQ(stats.prompt_tokens_cached, 8);
  EXPECT_EQ(stats.prefix_queries, 18);
  EXPECT_EQ(stats.prefix_hits, 8);
  EXPECT_EQ(stats.generation_tokens, 40);
  EXPECT_EQ(stats.finished[static_cast<size_t>(FinishReason::kLength)], 4);
  EXPECT_EQ(stats.time_to_first_token.count(), 4);
  EXPECT_EQ(stats.inter_token_latency.count(), 36);
  EXPECT_EQ(stats.time_per_output_token.count(), 4);
  EXPECT_EQ(stats.e2e_latency.count(), 4);
  EXPECT_EQ(stats.queue_time.count(), 2);
  EXPECT_EQ(stats.request_prompt_tokens.count(), 2);
  EXPECT_EQ(stats.request_generation_tokens.sum(), 40);
  EXPECT_EQ(stats.request_params_n.sum(), 4);
  EXPECT_EQ(stats.steps, 20);
  EXPECT_EQ(stats.iteration_tokens.sum(), 9 + 9 + 1 + 27);
}

TEST(Histogram, CountsByUpperBoundInclusive) {
  const double bounds[] = {1, 2, 5};
  Histogram histogram(bounds);
  histogram.observe(1);
  histogram.observe(1.5);
  histogram.observe(5, 2);
  histogram.observe(9);
  EXPECT_EQ(histogram.counts(), (std::vector<int64_t>{1, 1, 2, 1}));
  EXPECT_EQ(histogram.count(), 5);
  EXPECT_DOUBLE_EQ(histogram.sum(), 21.5);
}

TEST(EngineStats, TokenBoundsReachToTheContext) {
  EXPECT_EQ(EngineStats(100).request_prompt_tokens.bounds(), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
  EXPECT_EQ(EngineStats(8192).request_prompt_tokens.bounds().back(), 5000);
}

}  // namespace
}  // namespace pagoda::engine
