// For tests: an engine on the fake model, and requests to it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "engine/answers.h"
#include "engine/engine.h"
#include "engine/fake_runner.h"

namespace pagoda::engine {

inline constexpr int kVocabulary = 50;

inline KvCapacity one_group(int blocks, int swap_blocks = 0) {
  KvCapacity capacity;
  capacity.block_size = 4;
  capacity.layout.resize(1);
  capacity.blocks = {blocks};
  capacity.swap_blocks = {swap_blocks};
  capacity.block_bytes = {4096};
  return capacity;
}

inline EngineConfig small_config() {
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

}  // namespace pagoda::engine
