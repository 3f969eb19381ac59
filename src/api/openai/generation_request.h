// The fields that chat and completions have in common, read from the body into validated values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/openai/field_reader.h"
#include "base/result.h"
#include "engine/sampling_params.h"
#include "text/tokenizer.h"

namespace pagoda::api {

// What a request is read against; plain facts of the served model and the flags.
struct RequestLimits {
  const text::Tokenizer* tokenizer = nullptr;
  std::string model_name;  // for messages
  int max_model_len = 0;
  int max_logprobs = 20;  // -1: the vocabulary
  int max_choices = 128;
  int max_prompts = 1024;
  bool priority_scheduling = false;
  bool trust_request_chat_template = false;
  bool return_tokens_as_token_ids = false;
  bool force_include_usage = false;
  engine::SamplingParams default_sampling;
  std::optional<int> max_new_tokens;
};

// How the answer is to be written.
struct AnswerOptions {
  int n = 1;
  bool stream = false;
  bool include_usage = false;     // a last chunk with usage
  bool continuous_usage = false;  // usage in every chunk
  bool skip_special_tokens = true;
  bool include_stop_string = false;  // stop strings, and the text of stop tokens
  bool return_token_ids = false;
  bool tokens_as_ids = false;          // "token_id:123" for token texts
  std::vector<std::string> stop;       // none empty
  std::optional<int> logprobs;         // alternatives to write per token
  std::optional<int> prompt_logprobs;  // alternatives to write per prompt token, as the field of that name
};

enum class TruncationSide { kLeft, kRight };

struct GenerationRequest {
  std::string model;
  engine::SamplingParams sampling;  // max_tokens is not settled yet: see max_tokens below
  AnswerOptions answer;
  std::optional<int> max_tokens;  // as asked for
  int priority = 0;
  std::string cache_salt;
  std::string request_id;                     // the client's own, or empty
  std::optional<int> truncate_prompt_tokens;  // >= 1, or -1: what fits
  TruncationSide truncation_side = TruncationSide::kLeft;
};

// Everything but logprobs, prompts and max_tokens' default. Faults go to `fields`.
GenerationRequest read_generation_fields(FieldReader& fields, const RequestLimits& limits);

// A count of alternatives (logprobs, top_logprobs, prompt_logprobs) within max_logprobs; -1 means the
// vocabulary.
std::optional<int> read_logprob_count(FieldReader& fields, std::string_view name,
                                      const RequestLimits& limits);
// prompt_logprobs, which do not go together with streaming.
void read_prompt_logprobs(FieldReader& fields, const RequestLimits& limits, GenerationRequest& request);

// The prompt cut as truncate_prompt_tokens says, max_tokens settled, and both checked against the context.
// `default_max_tokens`: nothing means the rest of the context. Both sizes stand in the error.
Status fit_to_context(const GenerationRequest& request, const RequestLimits& limits,
                      std::optional<int> default_max_tokens, std::vector<int32_t>& prompt,
                      engine::SamplingParams& sampling);
// The error for a text that cannot fit, told before it is tokenized: a token has at most `longest_piece`
// bytes.
Status check_text_size(std::string_view text, size_t longest_piece, const RequestLimits& limits);

}  // namespace pagoda::api
