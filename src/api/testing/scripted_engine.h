// For tests: an engine that keeps what is submitted; the test plays the updates.
#pragma once

#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/engine.h"

namespace pagoda::api::testing {

class ScriptedEngine : public engine::Engine {
 public:
  Result<engine::RequestId> submit(engine::Request request) override {
    const std::lock_guard lock(mutex_);
    if (refusal && accepted_before_refusal-- <= 0) return Unexpected(*refusal);
    requests_.push_back(std::move(request));
    return requests_.size();
  }
  void cancel(engine::RequestId id) override {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(id);
  }
  engine::EngineStats stats() const override { return stats_now; }
  bool alive() const override { return is_alive; }
  void begin_drain() override {}
  bool idle() const override { return true; }

  // The i-th request, once it is there (within five seconds, or the test crashes).
  engine::Request& request(size_t i) {
    for (int tries = 0; tries < 5000; ++tries) {
      {
        const std::lock_guard lock(mutex_);
        if (requests_.size() > i) return requests_[i];
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return requests_.at(i);
  }
  size_t submitted() {
    const std::lock_guard lock(mutex_);
    return requests_.size();
  }
  std::vector<engine::RequestId> cancelled() {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }
  void play(size_t i, engine::Update update) { request(i).sink(std::move(update)); }
  void drop_requests() {  // as an engine does with what has ended
    const std::lock_guard lock(mutex_);
    requests_.clear();
  }

  // Set before requests come.
  std::optional<Error> refusal;
  int accepted_before_refusal = 0;
  bool is_alive = true;
  engine::EngineStats stats_now;

 private:
  std::mutex mutex_;
  std::vector<engine::Request> requests_;
  std::vector<engine::RequestId> cancelled_;
};

// Updates, spelled out.
inline engine::SampledToken plain_token(int32_t token) {
  return {token, std::nullopt, {}};
}

inline engine::Update tokens_of(std::string_view bytes, int choice = 0) {
  engine::Update update;
  update.choice = choice;
  for (unsigned char byte : bytes) update.tokens.push_back(plain_token(byte));
  return update;
}

inline engine::Update finish_of(engine::FinishReason reason, int choice = 0) {
  engine::Update update;
  update.choice = choice;
  update.finish = engine::Finish{reason, {}, {}, {}};
  return update;
}

// The end token, and the finish that it brings.
inline engine::Update end_token(int32_t token, int choice = 0) {
  engine::Update update = finish_of(engine::FinishReason::kStop, choice);
  update.tokens.push_back(plain_token(token));
  return update;
}

}  // namespace pagoda::api::testing
