// What goes wrong, whose fault it is, and who goes on: refusals, cancellations, failed steps, the engine's
// own end.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

#include "engine/engine.h"
#include "engine/engine_fixture.h"

namespace pagoda::engine {
namespace {

using EngineFaultsTest = EngineTest;

TEST_F(EngineFaultsTest, RefusesWhatCannotBeAnswered) {
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

TEST_F(EngineFaultsTest, CancelsWithinOneStep) {
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

TEST_F(EngineFaultsTest, EveryChoiceEndsOnceWhenCancelledBeforeTheFork) {
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

TEST_F(EngineFaultsTest, TheQueueIsBoundedAndAPlaceComesFreeAgain) {
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

TEST_F(EngineFaultsTest, DrainsAndThenRefuses) {
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

TEST_F(EngineFaultsTest, ItsEndAbortsWhatIsLeft) {
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

TEST_F(EngineFaultsTest, AFailedStepEndsItsRequestsAndTheEngineGoesOn) {
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

TEST_F(EngineFaultsTest, ThreeFailedStepsInARowAreTheEnd) {
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

TEST_F(EngineFaultsTest, BrokenLogitsAreOneRequestsFault) {
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

TEST_F(EngineFaultsTest, ASinkThatThrowsIsCancelled) {
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

TEST_F(EngineFaultsTest, WhatCanNeverFitFailsAloneAndOthersGoOn) {
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

}  // namespace
}  // namespace pagoda::engine
