// Chooses the next token from a row of logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/constraint.h"
#include "engine/logit_row.h"
#include "engine/request.h"
#include "engine/sampling_state.h"

namespace pagoda::engine {

// Order and semantics are those of vLLM (vllm/v1/sample/sampler.py): the constraint; log-probabilities of
// what it leaves; SamplingState::adjust(); temperature; min-p; top-k; top-p. A temperature between 0 and 0.01
// counts as 0.01. Equally likely tokens: greedy takes the lowest id, top-k keeps all that tie with the last
// one, top-p the lower ids. One thread; scratch memory is reused, so a call allocates nothing but the
// log-probabilities that it returns.
class Sampler {
 public:
  explicit Sampler(int vocabulary);

  // Scribbles on `row`. Fails, for this choice alone, when the row has a NaN or an infinity, or no token is
  // left. `constraint` may be null.
  Result<SampledToken> sample(const SamplingState& state, TokenConstraint* constraint, std::span<float> row);
  // The log-probability of a prompt's token, the one that follows the row's, and the most likely
  // alternatives.
  Result<SampledToken> score(std::span<const float> row, int32_t token, int alternatives);

 private:
  struct Candidate {
    int32_t token;
    float logit;
    float weight;  // relative to the most likely token's
  };

  Result<float> scan(std::span<const float> row);
  int32_t draw(const SamplingState& state, std::span<const float> row, float max);
  void draw_from_top(const SamplingParams& params, std::span<const float> row, float max, float temperature);
  double kth_bound(std::span<const float> row, float max, int k);
  void gather_top_p(double top_p, double total, float max, float temperature);
  void gather(std::span<const float> values, float bound, float chunk_bound);
  void keep_top_k(int k);
  void keep_top_p(double top_p, double total);
  int32_t pick(double uniform) const;
  int32_t pick_of_row(double uniform, double total) const;
  double log_sum(std::span<const float> row, float max);
  std::vector<TokenLogprob> most_likely(std::span<const float> row, float max, int count, double log_sum);

  const int vocabulary_;
  std::vector<float> maxima_;   // per chunk of the row that was scanned last
  std::vector<float> weights_;  // [vocabulary]
  std::vector<float> sums_;     // per chunk, of the weights
  std::vector<float> raw_;      // a copy of the row, where it is changed and still wanted
  std::vector<float> order_;    // for partial selections
  std::vector<uint32_t> mask_;
  std::vector<int32_t> gathered_;
  std::vector<Candidate> candidates_, border_;
  std::vector<double> masses_;  // per bucket of weights
};

}  // namespace pagoda::engine
