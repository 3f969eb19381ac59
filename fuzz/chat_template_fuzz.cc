// A stranger's chat template and messages: up to the first NUL the template, behind it the messages as JSON
// (a fixed conversation where that is none). It must end, with a text or an error.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "text/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nlohmann::ordered_json;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(input.find('\0'), input.size());
  static const ordered_json kMessages = ordered_json::parse(
      R"([{"role": "system", "content": "S"}, {"role": "user", "content": [{"type": "text", "text": "é"}]},
          {"role": "assistant", "content": "A", "tool_calls": [{"function": {"name": "f", "arguments": {"x": 0.5}}}]}])");
  ordered_json own = end < size ? ordered_json::parse(input.substr(end + 1), nullptr, false) : ordered_json();
  const auto parsed = pagoda::text::parse_chat_template(std::string(input.substr(0, end)), "<s>", "</s>");
  if (!parsed) return 0;
  pagoda::text::ChatTemplateInput chat;
  chat.messages = own.is_array() ? &own : &kMessages;
  chat.tools = &kMessages;
  chat.continue_final_message = size % 7 == 0;
  chat.now = 0;
  (void)(*parsed)->render(chat);
  return 0;
}
