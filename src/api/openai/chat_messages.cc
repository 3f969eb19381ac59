#include "api/openai/chat_messages.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/format.h"

namespace pagoda::api {
namespace {

constexpr std::array<std::string_view, 6> kRoles{"system",    "developer", "user",
                                                 "assistant", "tool",      "function"};

struct TextPart {
  std::string_view type, field;
};
constexpr std::array kTextParts{
    TextPart{"text", "text"},       TextPart{"input_text", "text"},   TextPart{"output_text", "text"},
    TextPart{"refusal", "refusal"}, TextPart{"thinking", "thinking"},
};
// Parts that may come without a type: the field names it.
constexpr std::array<std::string_view, 9> kMediaFields{"image_url", "input_image", "image_embeds",
                                                       "audio_url", "input_audio", "audio_embeds",
                                                       "video_url", "file",        "image_pil"};

Unexpected fault(const std::string& where, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, format("{} {}", where, what), where);
}

std::string type_of_part(const Json& part) {
  if (const auto type = part.find("type"); type != part.end() && type->is_string())
    return type->get<std::string>();
  if (part.contains("text")) return "text";
  for (std::string_view field : kMediaFields) {
    if (part.contains(field)) return std::string(field);
  }
  return {};
}

Result<std::string> text_of_part(const Json& part, const std::string& where, const std::string& model_name) {
  if (part.is_string()) return part.get<std::string>();
  if (!part.is_object()) {
    return fault(where, format("must be an object with a type, not {}", json_type_name(part)));
  }
  const std::string type = type_of_part(part);
  const auto text_part = std::find_if(kTextParts.begin(), kTextParts.end(),
                                      [&](const TextPart& known) { return known.type == type; });
  if (text_part != kTextParts.end()) {
    const auto text = part.find(text_part->field);
    if (text == part.end() || !text->is_string()) {
      return fault(where, format("of type \"{}\" must hold a string \"{}\"", type, text_part->field));
    }
    return text->get<std::string>();
  }
  if (std::find(kMediaFields.begin(), kMediaFields.end(), type) != kMediaFields.end()) {
    return fail(
        ErrorCode::kUnsupported,
        format("{} is of type \"{}\", but the model {} takes text only; images, audio and video are not "
               "supported in this build yet",
               where, type, model_name),
        where);
  }
  return fault(where, type.empty() ? std::string("must have a type")
                                   : format("has the unknown type \"{}\"", type.substr(0, 40)));
}

Result<Json> read_content(const Json* content, const std::string& where, const MessageForm& form) {
  const auto wrap = [&](std::string text) {
    return form.content_as_parts ? Json::array({Json{{"type", "text"}, {"text", std::move(text)}}})
                                 : Json(std::move(text));
  };
  if (!content || content->is_null()) return Json("");
  if (content->is_string()) return wrap(content->get<std::string>());
  if (!content->is_array()) {
    return fault(where, format("must be a string or an array of parts, not {}", json_type_name(*content)));
  }
  Json parts = Json::array();
  std::string joined;
  for (size_t i = 0; i < content->size(); ++i) {
    PAGODA_ASSIGN(std::string text, text_of_part((*content)[i], format("{}[{}]", where, i), form.model_name));
    if (i) joined += '\n';
    joined += text;
    parts.push_back(Json{{"type", "text"}, {"text", std::move(text)}});
  }
  return form.content_as_parts ? parts : Json(std::move(joined));
}

// Clients send a call's arguments as JSON in a string; templates want the value.
Status parse_arguments(Json& call, const std::string& where) {
  const auto function = call.find("function");
  if (function == call.end() || !function->is_object() || !function->contains("name")) {
    return fault(where, R"(must be {"type": "function", "function": {"name": …, "arguments": …}})");
  }
  const auto arguments = function->find("arguments");
  if (arguments == function->end() || arguments->is_null()) {
    (*function)["arguments"] = Json::object();
    return {};
  }
  if (!arguments->is_string()) return {};
  const std::string text = arguments->get<std::string>();
  if (text.empty()) {
    *arguments = Json::object();
    return {};
  }
  Result<Json> parsed = parse_json(text);
  if (!parsed) return fault(where + ".function.arguments", format("is not JSON: {}", parsed.error().message));
  *arguments = std::move(*parsed);
  return {};
}

Result<Json> read_tool_calls(const Json& calls, const std::string& where) {
  if (!calls.is_array()) return fault(where, format("must be an array, not {}", json_type_name(calls)));
  Json out = calls;
  for (size_t i = 0; i < out.size(); ++i) {
    const std::string place = format("{}[{}]", where, i);
    if (!out[i].is_object()) return fault(place, format("must be an object, not {}", json_type_name(out[i])));
    PAGODA_TRY(parse_arguments(out[i], place));
  }
  return out;
}

Result<std::string> read_role(const Json& message, const std::string& where, const MessageForm& form) {
  const auto role = message.find("role");
  if (role == message.end() || !role->is_string()) {
    return fault(where + ".role", "is required and must be a string");
  }
  std::string name = role->get<std::string>();
  if (std::find(kRoles.begin(), kRoles.end(), name) == kRoles.end()) {
    return fault(
        where + ".role",
        format("must be one of system, developer, user, assistant, tool; got \"{}\"", name.substr(0, 40)));
  }
  if (name == "developer" && form.developer_is_system) name = "system";
  return name;
}

const Json* present(const Json& message, std::string_view name) {
  const auto it = message.find(name);
  return it == message.end() || it->is_null() ? nullptr : &*it;
}

Status copy_string(const Json& message, std::string_view name, const std::string& where, Json& out) {
  const Json* value = present(message, name);
  if (!value) return {};
  if (!value->is_string()) {
    return fault(format("{}.{}", where, name), format("must be a string, not {}", json_type_name(*value)));
  }
  out[std::string(name)] = *value;
  return {};
}

Result<Json> normalise_message(const Json& message, const std::string& where, const MessageForm& form) {
  if (!message.is_object()) return fault(where, format("must be an object, not {}", json_type_name(message)));
  Json out = Json::object();
  PAGODA_ASSIGN(const std::string role, read_role(message, where, form));
  out["role"] = role;
  const Json* content = present(message, "content");
  const Json* tool_calls = present(message, "tool_calls");
  if (!content && role != "assistant") return fault(where + ".content", "is required");
  PAGODA_ASSIGN(out["content"], read_content(content, where + ".content", form));
  for (std::string_view name : {"name", "tool_call_id"}) PAGODA_TRY(copy_string(message, name, where, out));
  if (tool_calls) {
    PAGODA_ASSIGN(Json calls, read_tool_calls(*tool_calls, where + ".tool_calls"));
    if (!calls.empty()) out["tool_calls"] = std::move(calls);
  }
  // Templates know one or the other name.
  PAGODA_TRY(copy_string(message, "reasoning_content", where, out));
  PAGODA_TRY(copy_string(message, "reasoning", where, out));
  if (out.contains("reasoning"))
    out["reasoning_content"] = out["reasoning"];
  else if (out.contains("reasoning_content"))
    out["reasoning"] = out["reasoning_content"];
  return out;
}

}  // namespace

Result<Json> normalise_messages(const Json& messages, const MessageForm& form) {
  if (!messages.is_array()) {
    return fail(ErrorCode::kInvalidArgument,
                format("messages must be an array, not {}", json_type_name(messages)), "messages");
  }
  if (messages.empty()) {
    return fail(ErrorCode::kInvalidArgument, "messages must hold at least one message", "messages");
  }
  Json out = Json::array();
  for (size_t i = 0; i < messages.size(); ++i) {
    PAGODA_ASSIGN(Json message, normalise_message(messages[i], format("messages[{}]", i), form));
    out.push_back(std::move(message));
  }
  return out;
}

std::string content_text(const Json& message) {
  const auto content = message.find("content");
  if (content == message.end()) return {};
  if (content->is_string()) return content->get<std::string>();
  std::string text;
  for (const Json& part : *content) {
    if (!text.empty()) text += '\n';
    text += part.value("text", "");
  }
  return text;
}

}  // namespace pagoda::api
