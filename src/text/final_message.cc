#include "text/final_message.h"

#include <string_view>

#include "text/utf8.h"

namespace pagoda::text {
namespace {

using nlohmann::ordered_json;

// The space tells whether the template strips a message's end.
constexpr std::string_view kMark = "CONTINUE_FINAL_MESSAGE_TAG ";
constexpr std::string_view kStrippedMark = kMark.substr(0, kMark.size() - 1);

Unexpected refuse(const char* why) {
  return fail(ErrorCode::kInvalidArgument, std::string("continue_final_message is set but ") + why,
              "messages");
}

// The last text part of a message's content; nullptr when there is none.
ordered_json* text_to_continue(ordered_json& content) {
  if (content.is_string()) return &content;
  if (!content.is_array()) return nullptr;
  for (auto part = content.rbegin(); part != content.rend(); ++part) {
    if (part->is_object() && part->contains("text") && (*part)["text"].is_string()) return &(*part)["text"];
  }
  return nullptr;
}

std::string_view without_trailing_space(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char character = first_utf8_char(text.substr(at));
    at += static_cast<size_t>(character.length);
    if (!character.valid || !is_white_space(character.code_point)) end = at;
  }
  return text.substr(0, end);
}

std::string_view without_leading_space(std::string_view text) {
  while (!text.empty()) {
    const Utf8Char character = first_utf8_char(text);
    if (!character.valid || !is_white_space(character.code_point)) break;
    text.remove_prefix(static_cast<size_t>(character.length));
  }
  return text;
}

}  // namespace

Result<std::string> mark_final_message(ordered_json& messages) {
  if (messages.empty()) return refuse("there is no message");
  const auto content = messages.back().find("content");
  ordered_json* text = content == messages.back().end() ? nullptr : text_to_continue(*content);
  if (text == nullptr) return refuse("the last message has no text to continue");
  auto& marked = text->get_ref<std::string&>();
  std::string original = marked;
  marked += kMark;
  return original;
}

Result<std::string> cut_at_mark(std::string rendered, const std::string& final_text) {
  const size_t mark = rendered.rfind(kStrippedMark);
  const std::string_view core = without_leading_space(without_trailing_space(final_text));
  if (mark == std::string::npos || rendered.find(core) == std::string::npos) {
    return refuse("the chat template does not keep the last message's text");
  }
  const bool kept_space = rendered.compare(mark, kMark.size(), kMark) == 0;
  rendered.erase(mark);
  if (!kept_space) rendered.erase(without_trailing_space(rendered).size());
  return rendered;
}

}  // namespace pagoda::text
