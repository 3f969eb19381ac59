#include "engine/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "base/check.h"

namespace pagoda::engine {

namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();
constexpr float kLogprobFloor = -9999.f;
constexpr float kLowestTemperature = 0.01f;

// Weights in (0, 1] fall into eight buckets per power of two: the upper bits of a float.
constexpr int kBucketShift = 20;
constexpr size_t kBuckets = (std::bit_cast<uint32_t>(1.f) >> kBucketShift) + 1;
size_t bucket_of(float weight) {
  return std::min<size_t>(std::bit_cast<uint32_t>(weight) >> kBucketShift, kBuckets - 1);
}

TokenLogprob logprob_of(std::span<const float> row, int32_t token, double log_sum, int rank) {
  const double logprob = static_cast<double>(row[static_cast<size_t>(token)]) - log_sum;
  return {token, std::max(kLogprobFloor, static_cast<float>(logprob)), rank};
}

}  // namespace

Sampler::Sampler(int vocabulary)
    : vocabulary_(vocabulary),
      maxima_(chunks_of(static_cast<size_t>(vocabulary))),
      weights_(static_cast<size_t>(vocabulary)),
      sums_(maxima_.size()),
      mask_((static_cast<size_t>(vocabulary) + 31) / 32),
      gathered_(static_cast<size_t>(vocabulary) + 1),
      masses_(kBuckets) {
  order_.reserve(weights_.size());
}

Result<SampledToken> Sampler::sample(const SamplingState& state, TokenConstraint* constraint,
                                     std::span<float> row) {
  PAGODA_CHECK(static_cast<int>(row.size()) == vocabulary_, "a row has one logit per token");
  if (constraint != nullptr) {
    std::ranges::fill(mask_, 0u);
    constraint->fill_mask(mask_);
    mask_row(row, mask_);
  }
  PAGODA_ASSIGN(float max, scan(row));
  SampledToken result;
  double sum = 0;
  std::span<const float> raw = row;
  if (const auto& alternatives = state.params().logprobs) {
    sum = log_sum(row, max);
    result.top = most_likely(row, max, *alternatives, sum);
    if (state.adjusts()) {
      raw_.assign(row.begin(), row.end());
      raw = raw_;
    }
  }
  if (state.adjusts()) {
    state.adjust(row);
    PAGODA_ASSIGN(max, scan(row));
  }
  result.token = draw(state, row, max);
  if (state.params().logprobs) {
    result.chosen =
        logprob_of(raw, result.token, sum, count_at_least(raw, raw[static_cast<size_t>(result.token)]));
  }
  return result;
}

Result<SampledToken> Sampler::score(std::span<const float> row, int32_t token, int alternatives) {
  PAGODA_ASSIGN(const float max, scan(row));
  const double sum = log_sum(row, max);
  SampledToken result;
  result.token = token;
  result.chosen = logprob_of(row, token, sum, count_at_least(row, row[static_cast<size_t>(token)]));
  result.top = most_likely(row, max, alternatives, sum);
  return result;
}

// The row's maximum, and per chunk in maxima_.
Result<float> Sampler::scan(std::span<const float> row) {
  const RowScan found = scan_row(row, maxima_);
  if (found.has_nan || found.max == std::numeric_limits<float>::infinity()) {
    return fail(ErrorCode::kInternal, "the model's logits are not finite numbers: the request cannot go on");
  }
  if (found.max == kNone) {
    return fail(ErrorCode::kInvalidArgument,
                "no token is left to choose: the request's own limits exclude them all");
  }
  return found.max;
}

int32_t Sampler::draw(const SamplingState& state, std::span<const float> row, float max) {
  if (state.greedy()) return first_of(row, maxima_, max);
  const SamplingParams& params = state.params();
  const float temperature = std::max(params.temperature, kLowestTemperature);
  const bool top_k = params.top_k > 0 && params.top_k < vocabulary_;
  if (top_k || params.min_p > 0) {
    draw_from_top(params, row, max, temperature);
    return pick(state.random());
  }
  weigh_row(row, max, std::numbers::log2e_v<float> / temperature, weights_, sums_);
  double total = 0;
  for (const float sum : sums_) total += static_cast<double>(sum);
  if (params.top_p >= 1.f) return pick_of_row(state.random(), total);

  gather_top_p(static_cast<double>(params.top_p), total, max, temperature);
  keep_top_p(static_cast<double>(params.top_p), total);
  return pick(state.random());
}

// The candidates by weight that surely contain the smallest set with top_p of the mass. Mostly that is a
// handful of tokens, so high bounds are tried first; below the last one all tokens together have less than
// top-p leaves out.
void Sampler::gather_top_p(double top_p, double total, float max, float temperature) {
  const double last = 0.999 * (1.0 - top_p) * total / vocabulary_;
  for (double bound : {0x1p-8, 0x1p-13, 0x1p-18, last}) {
    bound = std::max(bound, last);
    // Chunks are known by their logits; the margin covers the rounding of weights.
    const double logit_bound = static_cast<double>(max) + std::log(bound) * static_cast<double>(temperature);
    gather(weights_, static_cast<float>(bound),
           static_cast<float>(logit_bound - 1e-5 * std::abs(logit_bound) - 1e-4));
    double mass = 0;
    for (Candidate& candidate : candidates_) {
      candidate.weight = weights_[static_cast<size_t>(candidate.token)];
      mass += static_cast<double>(candidate.weight);
    }
    if (bound == last || mass >= top_p * total) return;
  }
}

// min-p and top-k both cut below some logit, so the few tokens above it are all that needs to be weighed.
void Sampler::draw_from_top(const SamplingParams& params, std::span<const float> row, float max,
                            float temperature) {
  double bound = kNone;
  if (params.min_p > 0) {
    bound = static_cast<double>(max) +
            std::log(static_cast<double>(params.min_p)) * static_cast<double>(temperature);
    bound -= 1e-3 * static_cast<double>(temperature) + 1e-5 * std::abs(static_cast<double>(max));
  }
  const bool top_k = params.top_k > 0 && params.top_k < vocabulary_;
  if (top_k) bound = std::max(bound, kth_bound(row, max, params.top_k));
  gather(row, static_cast<float>(bound), static_cast<float>(bound));
  for (Candidate& candidate : candidates_) candidate.logit = row[static_cast<size_t>(candidate.token)];
  if (top_k) keep_top_k(params.top_k);
  double total = 0;
  const float scale = std::numbers::log2e_v<float> / temperature;
  for (Candidate& candidate : candidates_) candidate.weight = weight_of(candidate.logit, max, scale);
  std::erase_if(candidates_, [&](const Candidate& candidate) { return candidate.weight < params.min_p; });
  for (const Candidate& candidate : candidates_) total += static_cast<double>(candidate.weight);
  if (params.top_p < 1.f) keep_top_p(static_cast<double>(params.top_p), total);
}

// A logit that at least k tokens reach, and not many more: the k-th highest of the chunks' maxima, or, where
// there are not enough chunks, found by counting.
double Sampler::kth_bound(std::span<const float> row, float max, int k) {
  if (static_cast<size_t>(k) <= maxima_.size() / 2) {
    order_.assign(maxima_.begin(), maxima_.end());
    std::ranges::nth_element(order_, order_.begin() + (k - 1), std::greater<>{});
    return order_[static_cast<size_t>(k) - 1];
  }
  float below = 1.f;
  while (below < 1e4f && count_at_least(row, max - below) < k) below *= 2;
  if (below >= 1e4f) return kNone;
  float enough = below, step = below / 4;
  for (int i = 0; i < 8; ++i, step /= 2) {
    const float closer = enough - step;
    const int count = count_at_least(row, max - closer);
    if (count >= k) enough = closer;
    if (count >= k && count <= k + k / 4) break;
  }
  return static_cast<double>(max - enough);
}

// Candidates are the tokens whose value is at least `bound`, by id; chunks of logits below `chunk_bound` have
// none.
void Sampler::gather(std::span<const float> values, float bound, float chunk_bound) {
  size_t count = 0;
  for (size_t chunk = 0; chunk < maxima_.size(); ++chunk) {
    if (maxima_[chunk] < chunk_bound) continue;
    const size_t end = std::min(values.size(), (chunk + 1) * kRowChunk);
    for (size_t i = chunk * kRowChunk; i < end; ++i) {
      gathered_[count] = static_cast<int32_t>(i);
      count += static_cast<size_t>(values[i] >= bound);
    }
  }
  candidates_.clear();
  for (size_t i = 0; i < count; ++i) candidates_.push_back({gathered_[i], 0.f, 0.f});
}

void Sampler::keep_top_k(int k) {
  if (candidates_.size() <= static_cast<size_t>(k)) return;
  order_.clear();
  for (const Candidate& candidate : candidates_) order_.push_back(candidate.logit);
  std::ranges::nth_element(order_, order_.begin() + (k - 1), std::greater<>{});
  const float least = order_[static_cast<size_t>(k) - 1];
  std::erase_if(candidates_, [least](const Candidate& candidate) { return candidate.logit < least; });
}

// The smallest set of most likely candidates that has top_p of the total mass. Only the bucket at its border
// is sorted.
void Sampler::keep_top_p(double top_p, double total) {
  const double limit = top_p * total;
  std::ranges::fill(masses_, 0.0);
  for (const Candidate& candidate : candidates_)
    masses_[bucket_of(candidate.weight)] += static_cast<double>(candidate.weight);
  double mass = 0;
  size_t bucket = kBuckets;
  while (bucket > 0 && mass + masses_[bucket - 1] < limit) mass += masses_[--bucket];
  if (bucket == 0) return;
  --bucket;
  border_.clear();
  size_t kept = 0;
  for (const Candidate& candidate : candidates_) {
    const size_t its = bucket_of(candidate.weight);
    if (its > bucket) candidates_[kept++] = candidate;
    if (its == bucket) border_.push_back(candidate);
  }
  candidates_.resize(kept);
  std::ranges::sort(border_, [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  });
  for (const Candidate& candidate : border_) {
    if (mass >= limit) break;
    candidates_.push_back(candidate);
    mass += static_cast<double>(candidate.weight);
  }
}

int32_t Sampler::pick(double uniform) const {
  double total = 0;
  for (const Candidate& candidate : candidates_) total += static_cast<double>(candidate.weight);
  const double target = uniform * total;
  double mass = 0;
  for (const Candidate& candidate : candidates_) {
    mass += static_cast<double>(candidate.weight);
    if (target < mass) return candidate.token;
  }
  // Rounding left the target just past the end.
  const auto last = std::ranges::find_if(candidates_.rbegin(), candidates_.rend(),
                                         [](const Candidate& candidate) { return candidate.weight > 0; });
  return last->token;
}

int32_t Sampler::pick_of_row(double uniform, double total) const {
  const double target = uniform * total;
  double mass = 0;
  size_t chunk = 0;
  while (chunk + 1 < sums_.size() && mass + static_cast<double>(sums_[chunk]) <= target) {
    mass += static_cast<double>(sums_[chunk++]);
  }
  int32_t last = -1;
  for (size_t i = chunk * kRowChunk; i < weights_.size(); ++i) {
    if (weights_[i] == 0.f) continue;
    last = static_cast<int32_t>(i);
    mass += static_cast<double>(weights_[i]);
    if (target < mass) return last;
  }
  // Rounding left the target just past the end: the last token that has any weight.
  for (size_t i = chunk * kRowChunk; last < 0; --i) {
    if (weights_[i - 1] > 0.f) last = static_cast<int32_t>(i - 1);
  }
  return last;
}

double Sampler::log_sum(std::span<const float> row, float max) {
  weigh_row(row, max, std::numbers::log2e_v<float>, weights_, sums_);
  double total = 0;
  for (const float sum : sums_) total += static_cast<double>(sum);
  return static_cast<double>(max) + std::log(total);
}

// Of the row that was scanned last.
std::vector<TokenLogprob> Sampler::most_likely(std::span<const float> row, float max, int count,
                                               double log_sum) {
  std::vector<TokenLogprob> top;
  if (count == 0) return top;
  const float bound = static_cast<float>(kth_bound(row, max, count));
  gather(row, bound, bound);
  for (Candidate& candidate : candidates_) candidate.logit = row[static_cast<size_t>(candidate.token)];
  const size_t kept = std::min(candidates_.size(), static_cast<size_t>(count));
  std::ranges::partial_sort(candidates_, candidates_.begin() + static_cast<ptrdiff_t>(kept),
                            [](const Candidate& a, const Candidate& b) {
                              return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
                            });
  for (size_t i = 0; i < kept; ++i)
    top.push_back(logprob_of(row, candidates_[i].token, log_sum, static_cast<int>(i) + 1));
  return top;
}

}  // namespace pagoda::engine
