// How the next token is chosen. Ranges are checked by check_sampling(); api/ fills this from a request.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"

namespace pagoda::engine {

struct SamplingParams {
  float temperature = 1.f;                            // >= 0; 0 is greedy
  int top_k = 0;                                      // >= 1; 0 or -1: off
  float top_p = 1.f;                                  // (0, 1]
  float min_p = 0.f;                                  // [0, 1]
  float repetition_penalty = 1.f;                     // > 0: over prompt and answer
  float presence_penalty = 0.f;                       // [-2, 2]: over the answer
  float frequency_penalty = 0.f;                      // [-2, 2]: over the answer
  std::vector<std::pair<int32_t, float>> logit_bias;  // [-100, 100] each
  std::vector<int32_t> allowed_token_ids;             // empty: all
  std::vector<std::vector<int32_t>> bad_words;        // sequences that may not appear
  std::optional<uint64_t> seed;
  int max_tokens = 16;  // >= 0; 0 computes the prompt only
  int min_tokens = 0;   // end and stop tokens are masked until then
  std::vector<int32_t> stop_token_ids;
  bool ignore_eos = false;
  std::optional<int> logprobs;         // alternatives per generated token; 0: only the chosen token's
  std::optional<int> prompt_logprobs;  // the same for each prompt token but the first
};

// The first field that is out of range, named in Error::param with its range in the message.
Status check_sampling(const SamplingParams& params, int vocabulary);

}  // namespace pagoda::engine
