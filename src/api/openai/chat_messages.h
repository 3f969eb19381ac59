// The `messages` of a chat request → what a chat template is given: known roles, text content, parsed tool
// calls.
#pragma once

#include <string>

#include "api/openai/json_body.h"
#include "base/result.h"

namespace pagoda::api {

struct MessageForm {
  std::string model_name;            // for messages
  bool content_as_parts = false;     // give templates a list of {type, text} instead of a string
  bool developer_is_system = false;  // the template does not know "developer": what it says is the system's
};

// An array of {role, content, name?, tool_calls?, tool_call_id?, reasoning?}. Fails naming messages[i] and
// the part: unknown roles, images and other media, content of a wrong type, tool calls whose arguments are
// not JSON.
Result<Json> normalise_messages(const Json& messages, const MessageForm& form);

// The text of a normalised message's content.
std::string content_text(const Json& message);

}  // namespace pagoda::api
