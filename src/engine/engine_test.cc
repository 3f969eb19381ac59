// The engine's promises to one request: how its answer ends and what is reported with it.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "engine/engine_fixture.h"

namespace pagoda::engine {
namespace {

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

TEST_F(EngineTest, LongPromptsAreScoredInParts) {
  EngineConfig config = small_config();
  config.max_num_batched_tokens = 500;
  start(config);
  Request asked = request(std::vector<int32_t>(180, 3), 2);
  ASSERT_TRUE(submit(0, asked));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(seen_->rows_max, 180);
  seen_->rows_max = 0;
  asked.sampling.prompt_logprobs = 0;
  ASSERT_TRUE(submit(1, asked));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(seen_->rows_max, 64);
  EXPECT_EQ(answers_.of(1).prompt_logprobs.size(), 179u);
  EXPECT_EQ(answers_.of(1).tokens, answers_.of(0).tokens);
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
