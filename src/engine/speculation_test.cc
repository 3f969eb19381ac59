// Guesses change how many steps an answer takes, and nothing else (the answers: engine_invariance_test.cc).
#include "engine/speculation.h"

#include <gtest/gtest.h>

#include "engine/engine_fixture.h"
#include "engine/model_drafter.h"
#include "engine/ngram_drafter.h"
#include "engine/oracle_drafter.h"

namespace pagoda::engine {
namespace {

std::vector<int32_t> draft_of(std::vector<int32_t> tokens, int most, NgramLengths lengths = {2, 3}) {
  std::vector<int32_t> draft;
  const DraftRequest request{1, tokens, most, &draft};
  EXPECT_TRUE(NgramDrafter(lengths).propose({&request, 1}));
  return draft;
}

TEST(NgramDrafter, SaysWhatFollowedTheNewestTokensBefore) {
  EXPECT_EQ(draft_of({1, 2, 3, 4, 5, 1, 2}, 3), (std::vector<int32_t>{3, 4, 5}));
  EXPECT_EQ(draft_of({1, 2, 3, 4, 5, 1, 2}, 1), (std::vector<int32_t>{3}));
  EXPECT_EQ(draft_of({1, 2, 3, 1, 2}, 9), (std::vector<int32_t>{3, 1, 2})) << "no further than what is known";
}

TEST(NgramDrafter, PrefersTheLongestMatchThenTheLatest) {
  EXPECT_EQ(draft_of({9, 1, 2, 7, 0, 1, 2, 8, 9, 1, 2}, 1), (std::vector<int32_t>{7}));
  EXPECT_EQ(draft_of({1, 2, 7, 0, 1, 2, 8, 4, 1, 2}, 1), (std::vector<int32_t>{8}));
  EXPECT_EQ(draft_of({5, 9, 1, 2, 7, 6, 9, 1, 2, 8, 5, 9, 1, 2}, 1, {2, 3}), (std::vector<int32_t>{8}))
      << "what is longer than the longest does not count";
}

TEST(NgramDrafter, IsSilentWithoutAMatch) {
  EXPECT_TRUE(draft_of({1, 2, 3, 4}, 4).empty());
  EXPECT_TRUE(draft_of({2, 5, 2}, 4).empty()) << "one token is too few";
  EXPECT_EQ(draft_of({2, 5, 2}, 4, {1, 1}), (std::vector<int32_t>{5, 2}));
  EXPECT_TRUE(draft_of({7}, 4).empty());
}

class SpeculationTest : public EngineTest {
 protected:
  void start_drafting(EngineConfig config, int right_in_a_row) {
    config.draft_tokens = 3;
    KvCapacity capacity = one_group(64);
    auto runner = std::make_unique<FakeRunner>(kVocabulary, capacity);
    seen_ = runner->seen();
    layout_ = capacity.layout;
    auto drafter = std::make_unique<OracleDrafter>(kVocabulary, layout_, right_in_a_row);
    engine_ = Engine::start(std::move(config), std::move(runner), std::move(drafter));
  }
  void expect_right(int number, const Request& asked) {
    Request copy = asked;
    const std::vector<int32_t> answer = expected(asked);
    ASSERT_TRUE(submit(number, std::move(copy)));
    ASSERT_TRUE(answers_.wait());
    EXPECT_EQ(answers_.of(number).tokens, answer);
  }
};

TEST_F(SpeculationTest, RightGuessesMakeFewerSteps) {
  start_drafting(small_config(), 1000);
  expect_right(0, request({1, 2, 3}, 41));
  const EngineStats stats = engine_->stats();
  EXPECT_EQ(seen_->steps, 11) << "the prompt's, then four tokens in each";
  EXPECT_EQ(stats.drafts, 10);
  EXPECT_EQ(stats.draft_tokens, 30);
  EXPECT_EQ(stats.accepted_drafts, (std::vector<int64_t>{10, 10, 10}));
  EXPECT_EQ(stats.generation_tokens, 41);
  expect_all_blocks_free();
}

TEST_F(SpeculationTest, AWrongGuessCostsItsRowsOnly) {
  start_drafting(small_config(), 0);
  expect_right(0, request({1, 2, 3}, 20));
  EXPECT_EQ(seen_->steps, 20);
  EXPECT_EQ(engine_->stats().accepted_drafts, (std::vector<int64_t>{0, 0, 0}));
  expect_all_blocks_free();
}

TEST_F(SpeculationTest, NoMoreGuessesThanAnswerAndContextTake) {
  EngineConfig config = small_config();
  config.max_model_len = 12;
  start_drafting(config, 1000);
  Request asked = request({1, 2, 3, 4, 5, 6}, 2);
  expect_right(0, asked);
  EXPECT_EQ(engine_->stats().draft_tokens, 0) << "the second token is the last one";
  asked.sampling.max_tokens = 6;
  expect_right(1, asked);
  EXPECT_EQ(answers_.of(1).tokens.size(), 6u) << "to the context's end";
  expect_all_blocks_free();
}

TEST_F(SpeculationTest, ACrowdIsNotGuessedFor) {
  EngineConfig config = small_config();
  config.draft_most_running = 1;
  start_drafting(config, 1000);
  Request asked = request({1, 2, 3}, 9);
  asked.n = 2;
  ASSERT_TRUE(submit(0, asked));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(engine_->stats().draft_tokens, 0);
  expect_right(1, request({4, 5}, 9));
  EXPECT_GT(engine_->stats().draft_tokens, 0);
}

TEST_F(SpeculationTest, AStopTokenAmongTheGuessesEndsTheAnswer) {
  start_drafting(small_config(), 1000);
  Request asked = request({1, 2, 3}, 30);
  const std::vector<int32_t> whole = expected(asked);
  asked.sampling.stop_token_ids = {whole[6]};
  const auto first = std::ranges::find(whole, whole[6]);
  ASSERT_TRUE(submit(0, asked));
  ASSERT_TRUE(answers_.wait());
  EXPECT_EQ(answers_.of(0).tokens, std::vector<int32_t>(whole.begin(), first + 1));
  EXPECT_EQ(answers_.of(0).finish.reason, FinishReason::kStop);
  expect_all_blocks_free();
}

class ModelDrafterTest : public EngineTest {
 protected:
  // The drafter's model is the same as the engine's, so that greedy answers are what it guesses.
  void start_drafting(std::vector<int> windows, int draft_blocks, int draft_rows) {
    KvCapacity capacity;
    capacity.block_size = 4;
    for (const int window : windows) {
      model::KvGroup group;
      group.window = window;
      capacity.layout.push_back(group);
      capacity.blocks.push_back(64);
      capacity.swap_blocks.push_back(0);
      capacity.block_bytes.push_back(4096);
    }
    layout_ = capacity.layout;
    auto runner = std::make_unique<FakeRunner>(kVocabulary, capacity);
    seen_ = runner->seen();
    capacity.blocks.assign(windows.size(), draft_blocks);
    auto small = std::make_unique<FakeRunner>(kVocabulary, capacity);
    small->before_step = [this](const StepPlan&) -> Status {
      if (failing_) return fail(ErrorCode::kInternal, "the small model is broken");
      return {};
    };
    small_seen_ = small->seen();
    EngineConfig config = small_config();
    config.draft_tokens = 4;
    engine_ = Engine::start(config, std::move(runner),
                            std::make_unique<ModelDrafter>(std::move(small), kVocabulary, draft_rows));
  }
  std::vector<int32_t> numbers(int count, int step = 3) const {
    std::vector<int32_t> tokens;
    for (int i = 0; i < count; ++i) tokens.push_back(i * step % kVocabulary);
    return tokens;
  }
  void ask(std::vector<Request> requests, int first = 0) {
    for (size_t i = 0; i < requests.size(); ++i)
      ASSERT_TRUE(submit(first + static_cast<int>(i), requests[i]));
    ASSERT_TRUE(answers_.wait());
    for (size_t i = 0; i < requests.size(); ++i) {
      for (int choice = 0; choice < requests[i].n; ++choice)
        EXPECT_EQ(answers_.of(first + static_cast<int>(i), choice).tokens, expected(requests[i], choice));
    }
  }
  int64_t accepted() const {
    int64_t sum = 0;
    for (const int64_t count : engine_->stats().accepted_drafts) sum += count;
    return sum;
  }

  std::shared_ptr<FakeRunner::Seen> small_seen_;
  std::atomic<bool> failing_{false};
};

TEST_F(ModelDrafterTest, GuessesWhatItsModelSays) {
  start_drafting({0}, 64, 64);
  ask({request(numbers(7), 41)});
  EXPECT_EQ(accepted(), engine_->stats().draft_tokens) << "its model is the engine's";
  EXPECT_EQ(seen_->steps, 1 + 8) << "the prompt's, then five tokens in each";
  expect_all_blocks_free();
}

TEST_F(ModelDrafterTest, TakesBackWhatWasWrong) {
  int first = 0;
  for (const auto& windows : std::vector<std::vector<int>>{{0}, {0, 9}, {12}}) {
    start_drafting(windows, 64, 64);
    std::vector<Request> requests;
    for (int i = 0; i < 6; ++i) {
      Request one = request(numbers(5 + i, 2 + i), 40);
      if (i % 2 == 1) one.sampling.temperature = 0.8f;
      if (i % 3 == 2) one.n = 2;
      one.sampling.seed = static_cast<uint64_t>(i);
      requests.push_back(one);
    }
    ask(requests, first);
    EXPECT_GT(accepted(), 100);
    EXPECT_LT(accepted(), engine_->stats().draft_tokens);
    expect_all_blocks_free();
    engine_.reset();
    first += 100;
  }
}

TEST_F(ModelDrafterTest, ReadsALongPromptInParts) {
  start_drafting({0}, 64, 8);
  ask({request(numbers(30), 30)});
  EXPECT_LE(small_seen_->rows_max, 8);
  EXPECT_GT(accepted(), 0);
}

TEST_F(ModelDrafterTest, GivesUpWhatDoesNotFit) {
  start_drafting({0}, 5, 64);
  ask({request(numbers(10), 60), request(numbers(11), 20)});
  const int64_t before = engine_->stats().draft_tokens;
  EXPECT_GT(before, 0);
  ask({request(numbers(3), 10)}, 10);
  EXPECT_GT(engine_->stats().draft_tokens, before) << "those that came before have left their blocks";
}

TEST_F(ModelDrafterTest, WithoutItsModelTheAnswersGoOn) {
  start_drafting({0}, 64, 64);
  failing_ = true;
  ask({request(numbers(7), 20)});
  EXPECT_EQ(engine_->stats().draft_tokens, 0);
  failing_ = false;
  ask({request(numbers(8), 21)}, 1);
  EXPECT_EQ(accepted(), engine_->stats().draft_tokens);
  EXPECT_GT(accepted(), 0);
}

}  // namespace
}  // namespace pagoda::engine
