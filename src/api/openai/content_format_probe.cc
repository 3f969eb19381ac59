#include "api/openai/content_format_probe.h"

#include <string_view>

#include "api/openai/json_body.h"

namespace pagoda::api {
namespace {

// A text that a template shows only where it shows the message.
constexpr std::string_view kNeedle = "pagoda-probe-7f3a";

bool shows_needle(const text::ChatTemplate& chat_template, const Json& content) {
  const Json messages = Json::array({Json{{"role", "user"}, {"content", content}}});
  text::ChatTemplateInput input;
  input.messages = &messages;
  const Result<std::string> text = chat_template.render(input);
  if (!text) return false;
  // A template that prints the list itself shows the needle too, but with the parts' names around it.
  return text->find(kNeedle) != std::string::npos && text->find("\"type\"") == std::string::npos &&
         text->find("'type'") == std::string::npos;
}

}  // namespace

bool wants_content_parts(const text::ChatTemplate& chat_template) {
  const Json parts = Json::array({Json{{"type", "text"}, {"text", kNeedle}}});
  return !shows_needle(chat_template, Json(kNeedle)) && shows_needle(chat_template, parts);
}

}  // namespace pagoda::api
