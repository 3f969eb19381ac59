#include "text/template_messages.h"

#include <string_view>

namespace pagoda::text {

using nlohmann::ordered_json;

Result<ordered_json> messages_for_template(const ordered_json& messages) {
  constexpr std::string_view kReasoning = "reasoning_content", kThinking = "thinking";
  constexpr std::string_view kReasoningNames[] = {kReasoning, kThinking, "reasoning"};
  ordered_json prepared = ordered_json::array();
  for (const ordered_json& message : messages) {
    if (!message.is_object())
      return fail(ErrorCode::kInvalidArgument, "each message must be an object", "messages");
    const ordered_json* reasoning = nullptr;
    for (const std::string_view name : kReasoningNames) {
      const auto found = message.find(name);
      if (reasoning == nullptr && found != message.end() && !found->is_null()) reasoning = &*found;
    }
    ordered_json kept = ordered_json::object();
    if (reasoning != nullptr) kept[std::string(kThinking)] = *reasoning;
    for (const auto& [name, value] : message.items()) {
      if (!value.is_null()) kept[name] = value;
    }
    if (reasoning != nullptr) kept[std::string(kReasoning)] = *reasoning;
    prepared.push_back(std::move(kept));
  }
  return prepared;
}

}  // namespace pagoda::text
