// POST /v1/completions: the body as validated values.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "api/openai/generation_request.h"

namespace pagoda::api {

// One prompt: text, or token ids that are in the vocabulary.
using CompletionPrompt = std::variant<std::string, std::vector<int32_t>>;

inline constexpr int kDefaultCompletionTokens = 16;

struct CompletionRequest {
  GenerationRequest generation;
  std::vector<CompletionPrompt> prompts;  // none empty
  bool echo = false;
  bool add_special_tokens = true;
};

Result<CompletionRequest> parse_completion_request(const Json& body, const RequestLimits& limits);

}  // namespace pagoda::api
