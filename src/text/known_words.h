// Remembers which tokens a word of exactly their bytes is encoded as: most words of a text are one token, and
// then the merging need not be repeated. Learnt as texts come; lock-free, safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace pagoda::text {

class KnownWords {
 public:
  enum class Answer : uint8_t { kUnknown, kItself, kSplit };
  explicit KnownWords(int tokens)
      : answers_(std::make_unique<std::atomic<uint8_t>[]>(static_cast<size_t>(tokens))) {}

  Answer get(int32_t token) const {
    return static_cast<Answer>(answers_[static_cast<size_t>(token)].load(std::memory_order_relaxed));
  }
  // Every thread finds the same answer for a token, so the order of writers does not matter.
  void set(int32_t token, bool itself) const {
    const Answer answer = itself ? Answer::kItself : Answer::kSplit;
    answers_[static_cast<size_t>(token)].store(static_cast<uint8_t>(answer), std::memory_order_relaxed);
  }

 private:
  std::unique_ptr<std::atomic<uint8_t>[]> answers_;  // [tokens]
};

}  // namespace pagoda::text
