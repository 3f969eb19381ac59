// Chat templates: real Jinja, rendered as transformers' apply_chat_template does. Parsed once at load; safe
// from any thread.
#pragma once

#include <ctime>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/result.h"

namespace pagoda::text {

struct ChatTemplateInput {
  const nlohmann::ordered_json* messages = nullptr;   // array of {role, content, …} as the client sent them
  const nlohmann::ordered_json* tools = nullptr;      // array or nullptr
  const nlohmann::ordered_json* documents = nullptr;  // array or nullptr
  const nlohmann::ordered_json* extra = nullptr;      // chat_template_kwargs: object or nullptr
  bool add_generation_prompt = true;
  bool continue_final_message = false;
  std::optional<std::time_t> now;  // what strftime_now tells, in local time; absent: the present
};

class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;
  // Fails with the template's own message (raise_exception) or the fault and its line.
  virtual Result<std::string> render(const ChatTemplateInput& input) const = 0;
};

Result<std::unique_ptr<ChatTemplate>> parse_chat_template(std::string source, std::string bos_token,
                                                          std::string eos_token);

}  // namespace pagoda::text
