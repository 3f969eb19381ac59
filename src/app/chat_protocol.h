// The client's half of the OpenAI chat API: what is sent, and what the events of a streamed answer say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::app {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

struct ChatRequestOptions {
  std::string model;
  std::optional<int> max_tokens;
  std::optional<double> temperature;
};

// The body of POST /v1/chat/completions, streaming, with usage at the end.
std::string chat_request_body(const ChatRequestOptions& options, const std::vector<ChatMessage>& messages);

// "http://host:8000", with or without a trailing slash or /v1 → "http://host:8000/v1".
std::string api_base(std::string url);

// One event of a streamed answer.
struct ChatEvent {
  std::string content;                   // what the answer goes on with; may be empty
  std::optional<std::string> finish;     // "stop", "length", …
  std::optional<int> completion_tokens;  // of the usage event
};
// The JSON after "data: ". An error event is an error with the server's message.
Result<ChatEvent> read_chat_event(std::string_view json);

// The message of an error body; of another server's, the body's beginning.
std::string error_message_of(int status, std::string_view body);

// The first model that GET /v1/models lists.
Result<std::string> first_model_of(std::string_view body);

}  // namespace pagoda::app
