#include "engine/sampling_params.h"

#include <cmath>
#include <string_view>

#include "base/format.h"

namespace pagoda::engine {

namespace {

Unexpected out_of_range(std::string_view name, std::string_view range, const auto& value) {
  return fail(ErrorCode::kInvalidArgument, format("{} must be {}, got {}", name, range, value),
              std::string(name));
}

Status check_tokens(std::string_view name, const auto& tokens, int vocabulary) {
  for (const int32_t token : tokens) {
    if (token < 0 || token >= vocabulary) {
      return out_of_range(name, format("token ids in [0, {})", vocabulary), token);
    }
  }
  return {};
}

// Each comparison is written so that a NaN fails it.
Status check_shape(const SamplingParams& p) {
  if (!(p.temperature >= 0.f && std::isfinite(p.temperature))) {
    return out_of_range("temperature", "a finite number of at least 0", p.temperature);
  }
  if (p.top_k < -1) return out_of_range("top_k", "at least 1, or 0 or -1 for all tokens", p.top_k);
  if (!(p.top_p > 0.f && p.top_p <= 1.f)) return out_of_range("top_p", "in (0, 1]", p.top_p);
  if (!(p.min_p >= 0.f && p.min_p <= 1.f)) return out_of_range("min_p", "in [0, 1]", p.min_p);
  if (!(p.repetition_penalty > 0.f && std::isfinite(p.repetition_penalty))) {
    return out_of_range("repetition_penalty", "a finite number greater than 0", p.repetition_penalty);
  }
  if (!(p.presence_penalty >= -2.f && p.presence_penalty <= 2.f)) {
    return out_of_range("presence_penalty", "in [-2, 2]", p.presence_penalty);
  }
  if (!(p.frequency_penalty >= -2.f && p.frequency_penalty <= 2.f)) {
    return out_of_range("frequency_penalty", "in [-2, 2]", p.frequency_penalty);
  }
  return {};
}

Status check_lengths(const SamplingParams& p, int vocabulary) {
  if (p.max_tokens < 0) return out_of_range("max_tokens", "at least 0", p.max_tokens);
  if (p.min_tokens < 0) return out_of_range("min_tokens", "at least 0", p.min_tokens);
  if (p.min_tokens > p.max_tokens) {
    return out_of_range("min_tokens", format("at most max_tokens, {}", p.max_tokens), p.min_tokens);
  }
  if (p.logprobs && (*p.logprobs < 0 || *p.logprobs > vocabulary)) {
    return out_of_range("logprobs", format("in [0, {}]", vocabulary), *p.logprobs);
  }
  if (p.prompt_logprobs && (*p.prompt_logprobs < 0 || *p.prompt_logprobs > vocabulary)) {
    return out_of_range("prompt_logprobs", format("in [0, {}]", vocabulary), *p.prompt_logprobs);
  }
  return {};
}

}  // namespace

Status check_sampling(const SamplingParams& p, int vocabulary) {
  PAGODA_TRY(check_shape(p));
  PAGODA_TRY(check_lengths(p, vocabulary));
  for (const auto& [token, bias] : p.logit_bias) {
    if (token < 0 || token >= vocabulary) {
      return out_of_range("logit_bias", format("keyed by token ids in [0, {})", vocabulary), token);
    }
    if (!(bias >= -100.f && bias <= 100.f))
      return out_of_range("logit_bias", "in [-100, 100] for each token", bias);
  }
  PAGODA_TRY(check_tokens("allowed_token_ids", p.allowed_token_ids, vocabulary));
  PAGODA_TRY(check_tokens("stop_token_ids", p.stop_token_ids, vocabulary));
  for (const auto& word : p.bad_words) {
    if (word.empty())
      return fail(ErrorCode::kInvalidArgument, "bad_words must not hold an empty word", "bad_words");
    PAGODA_TRY(check_tokens("bad_words", word, vocabulary));
  }
  return {};
}

}  // namespace pagoda::engine
