// For tests: collects what the engine sends and waits for its end; and says what the answer must be, from the
// fake model's definition and the sampler alone, without any engine.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/engine.h"
#include "engine/fake_runner.h"
#include "engine/sampler.h"

namespace pagoda::engine {

struct Answer {
  std::vector<int32_t> tokens;
  std::vector<SampledToken> sampled;
  std::vector<SampledToken> prompt_logprobs;
  int cached_tokens = 0;
  int updates = 0;
  int finishes = 0;
  Finish finish;
};

// Answers by (request's number, choice). Outlives the engine.
class Answers {
 public:
  using Key = std::pair<int, int>;

  std::function<void(Update&&)> sink(int request, int choices) {
    const std::lock_guard lock(mutex_);
    for (int choice = 0; choice < choices; ++choice) answers_[{request, choice}];
    open_ += choices;
    return [this, request](Update&& update) { take(request, std::move(update)); };
  }
  void forget(int request, int choices) {
    const std::lock_guard lock(mutex_);
    for (int choice = 0; choice < choices; ++choice) answers_.erase({request, choice});
    open_ -= choices;
  }
  bool wait(int seconds = 60) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return open_ == 0; });
  }
  // Waits until a choice has so many tokens.
  bool wait_for_tokens(int request, size_t tokens) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      return answers_[{request, 0}].tokens.size() >= tokens;
    });
  }
  Answer of(int request, int choice = 0) {
    const std::lock_guard lock(mutex_);
    return answers_.at({request, choice});
  }
  std::map<Key, Answer> all() {
    const std::lock_guard lock(mutex_);
    return answers_;
  }
  std::vector<Key> order_of_first_tokens() {
    const std::lock_guard lock(mutex_);
    return first_tokens_;
  }

 private:
  void take(int request, Update&& update) {
    {
      const std::lock_guard lock(mutex_);
      Answer& answer = answers_.at({request, update.choice});
      EXPECT_EQ(answer.finishes, 0) << "an update after the last one";
      if (answer.updates++ == 0) {
        first_tokens_.push_back({request, update.choice});
        answer.prompt_logprobs = std::move(update.prompt_logprobs);
        answer.cached_tokens = update.cached_tokens;
      }
      for (SampledToken& token : update.tokens) {
        answer.tokens.push_back(token.token);
        answer.sampled.push_back(std::move(token));
      }
      if (update.finish) {
        ++answer.finishes;
        answer.finish = std::move(*update.finish);
        --open_;
      }
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Answer> answers_;
  std::vector<Key> first_tokens_;
  int open_ = 0;
};

// The tokens of one choice whose request brings a seed (or is greedy), ended by its max_tokens only.
inline std::vector<int32_t> expected_answer(const std::vector<int32_t>& prompt, const SamplingParams& params,
                                            int choice, const model::KvLayout& layout, int vocabulary) {
  std::vector<int32_t> history = prompt;
  Sampler sampler(vocabulary);
  SamplingState state(params, prompt, {}, params.seed.value_or(0), choice, vocabulary);
  std::vector<float> row(static_cast<size_t>(vocabulary));
  for (int i = 0; i < params.max_tokens; ++i) {
    FakeRunner::expected_logits(history, layout, row);
    const int32_t token = sampler.sample(state, nullptr, row)->token;
    state.add(token);
    history.push_back(token);
  }
  return {history.begin() + static_cast<ptrdiff_t>(prompt.size()), history.end()};
}

}  // namespace pagoda::engine
