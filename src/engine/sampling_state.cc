#include "engine/sampling_state.h"

#include <algorithm>
#include <limits>

#include "engine/logit_row.h"
#include "engine/philox.h"

namespace pagoda::engine {

namespace {
constexpr float kForbidden = -std::numeric_limits<float>::infinity();
}

SamplingState::SamplingState(const SamplingParams& params, std::span<const int32_t> prompt,
                             std::span<const int32_t> end_tokens, uint64_t seed, int choice, int vocabulary)
    : params_(&params), seed_(seed), choice_(choice) {
  if (params.min_tokens > 0) {
    ending_ = params.stop_token_ids;
    if (!params.ignore_eos) ending_.insert(ending_.end(), end_tokens.begin(), end_tokens.end());
  }
  if (!params.allowed_token_ids.empty()) {
    allowed_.assign((static_cast<size_t>(vocabulary) + 31) / 32, 0);
    for (const int32_t token : params.allowed_token_ids)
      allowed_[static_cast<size_t>(token) / 32] |= 1u << (token % 32);
  }
  if (has_penalties()) {
    for (const int32_t token : prompt) counts_.add_prompt(token);
  }
}

void SamplingState::add(int32_t token) {
  answer_.push_back(token);
  if (has_penalties()) counts_.add_answer(token);
}

double SamplingState::random() const {
  return uniform(seed_, static_cast<uint32_t>(choice_), answer_.size());
}

bool SamplingState::has_penalties() const {
  return params_->repetition_penalty != 1.f || params_->presence_penalty != 0.f ||
         params_->frequency_penalty != 0.f;
}

bool SamplingState::adjusts() const {
  return !allowed_.empty() || !params_->bad_words.empty() || too_short() || !params_->logit_bias.empty() ||
         has_penalties();
}

void SamplingState::adjust(std::span<float> row) const {
  if (!allowed_.empty()) mask_row(row, allowed_);
  forbid_bad_words(row);
  if (too_short()) {
    for (const int32_t token : ending_) row[static_cast<size_t>(token)] = kForbidden;
  }
  for (const auto& [token, bias] : params_->logit_bias) row[static_cast<size_t>(token)] += bias;
  if (has_penalties()) penalise(row);
}

// A word's last token is forbidden where the answer ends in the tokens before it.
void SamplingState::forbid_bad_words(std::span<float> row) const {
  for (const auto& word : params_->bad_words) {
    const size_t before = word.size() - 1;
    if (before > answer_.size()) continue;
    if (std::equal(word.begin(), word.end() - 1, answer_.end() - static_cast<ptrdiff_t>(before))) {
      row[static_cast<size_t>(word.back())] = kForbidden;
    }
  }
}

void SamplingState::penalise(std::span<float> row) const {
  for (const TokenCounts::Entry& entry : counts_.entries()) {
    float& logit = row[static_cast<size_t>(entry.token)];
    logit = logit > 0 ? logit / params_->repetition_penalty : logit * params_->repetition_penalty;
    if (entry.answer == 0) continue;
    logit -= params_->frequency_penalty * static_cast<float>(entry.answer);
    logit -= params_->presence_penalty;
  }
}

}  // namespace pagoda::engine
