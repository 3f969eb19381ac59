// For tests: "[role]content" for each message, "[assistant]" for the generation prompt.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "text/chat_template.h"

namespace pagoda::api::testing {

class PlainChatTemplate : public text::ChatTemplate {
 public:
  Result<std::string> render(const text::ChatTemplateInput& input) const override {
    std::string out;
    for (const auto& message : *input.messages) {
      const auto& content = message["content"];
      if (content == "refuse me") return fail(ErrorCode::kInvalidArgument, "this template refuses that");
      out += '[' + message["role"].get<std::string>() + ']';
      out += content.is_string() ? content.get<std::string>() : content.dump();
    }
    if (input.tools) out += "[tools]" + input.tools->dump();
    if (input.extra && input.extra->contains("style"))
      out += "[style]" + (*input.extra)["style"].get<std::string>();
    if (input.add_generation_prompt) out += "[assistant]";
    return out;
  }
};

}  // namespace pagoda::api::testing
