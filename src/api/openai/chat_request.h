// POST /v1/chat/completions, and /tokenize in its chat form: the body as validated values.
#pragma once

#include <optional>
#include <string>

#include "api/openai/chat_messages.h"
#include "api/openai/generation_request.h"

namespace pagoda::api {

// What is rendered into the prompt.
struct ChatPrompt {
  Json messages;             // normalised
  Json tools;                // an array, or null
  Json documents;            // an array, or null
  Json template_kwargs;      // an object: defaults, then chat_template_kwargs, reasoning_effort
  std::string own_template;  // the request's chat_template, where the server trusts it; or empty
  bool add_generation_prompt = true;
  bool continue_final_message = false;
  bool add_special_tokens = false;
};

struct ChatRequest {
  GenerationRequest generation;
  ChatPrompt prompt;
  bool echo = false;  // the last message's text in front of the answer, where it is of the same role
};

// `default_kwargs`: the server's --default-chat-template-kwargs, an object.
Result<ChatRequest> parse_chat_request(const Json& body, const RequestLimits& limits, const MessageForm& form,
                                       const Json& default_kwargs);

// The part of it that /tokenize shares: everything but tool_choice, which changes no prompt.
Result<ChatPrompt> read_chat_prompt(const Json& body, FieldReader& fields, const RequestLimits& limits,
                                    const MessageForm& form, const Json& default_kwargs);

}  // namespace pagoda::api
