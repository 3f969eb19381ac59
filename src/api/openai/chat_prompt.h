// A chat → the text and the tokens that the model reads.
#pragma once

#include <string>
#include <vector>

#include "api/openai/chat_request.h"
#include "api/openai/service_core.h"

namespace pagoda::api {

// kInvalidArgument with the template's own message, or when the model has no template.
Result<std::string> render_chat(const ServiceCore& core, const ChatPrompt& prompt);
// Rendered and tokenized; what cannot fit the context is refused before it is tokenized.
Result<std::vector<int32_t>> tokenize_chat(const ServiceCore& core, const ChatPrompt& prompt);

}  // namespace pagoda::api
