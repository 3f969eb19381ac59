// What sampling remembers of one choice, and what it does to the logits before a token is drawn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/sampling_params.h"
#include "engine/token_counts.h"

namespace pagoda::engine {

// Nothing in it depends on the batch or on when the choice runs.
class SamplingState {
 public:
  // `params` must outlive it. `end_tokens` are the model's.
  SamplingState(const SamplingParams& params, std::span<const int32_t> prompt,
                std::span<const int32_t> end_tokens, uint64_t seed, int choice, int vocabulary);

  // After each chosen token.
  void add(int32_t token);
  std::span<const int32_t> answer() const { return answer_; }
  const SamplingParams& params() const { return *params_; }
  bool greedy() const { return params_->temperature < 1e-5f; }

  // Uniform in [0, 1): always the same for the same seed, choice and length of the answer.
  double random() const;

  // False: adjust() leaves the logits as they are.
  bool adjusts() const;
  // Allowed tokens, bad words, min_tokens, logit bias, penalties, in this order.
  void adjust(std::span<float> row) const;

 private:
  bool has_penalties() const;
  bool too_short() const { return static_cast<int>(answer_.size()) < params_->min_tokens; }
  void forbid_bad_words(std::span<float> row) const;
  void penalise(std::span<float> row) const;

  const SamplingParams* params_;
  uint64_t seed_;
  int choice_;
  std::vector<int32_t> answer_;
  std::vector<int32_t>
      ending_;  // may not be chosen before min_tokens: stop tokens, and end tokens unless ignored
  std::vector<uint32_t> allowed_;  // mask of allowed_token_ids; empty: all
  TokenCounts counts_;             // kept only when there are penalties
};

}  // namespace pagoda::engine
