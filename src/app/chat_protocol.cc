#include "app/chat_protocol.h"

#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::app {
namespace {

using Json = nlohmann::ordered_json;

// The member as a text; empty when absent or something else.
std::string text_of(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// {"error": {"message": …}}, {"error": "…"}, {"detail": "…"}, {"message": "…"}
std::string message_in(const Json& body) {
  if (!body.is_object()) return {};
  if (const auto error = body.find("error"); error != body.end()) {
    return error->is_string() ? error->get<std::string>() : text_of(*error, "message");
  }
  const std::string detail = text_of(body, "detail");
  return detail.empty() ? text_of(body, "message") : detail;
}

}  // namespace

std::string chat_request_body(const ChatRequestOptions& options, const std::vector<ChatMessage>& messages) {
  Json body = {{"model", options.model}, {"messages", Json::array()}, {"stream", true}};
  for (const ChatMessage& message : messages) {
    body["messages"].push_back({{"role", message.role}, {"content", message.content}});
  }
  body["stream_options"] = {{"include_usage", true}};
  if (options.max_tokens) body["max_tokens"] = *options.max_tokens;
  if (options.temperature) body["temperature"] = *options.temperature;
  // What a terminal sends need not be UTF-8; what goes out must be.
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string api_base(std::string url) {
  if (url.find("://") == std::string::npos) url = "http://" + url;
  while (url.ends_with('/')) url.pop_back();
  return url.ends_with("/v1") ? url : url + "/v1";
}

Result<ChatEvent> read_chat_event(std::string_view json) {
  const Json body = Json::parse(json, nullptr, false);
  if (!body.is_object()) {
    return fail(ErrorCode::kCorruptData,
                format("the server sent an event that is no JSON object: {}", json.substr(0, 200)));
  }
  if (body.contains("error")) return fail(ErrorCode::kInternal, message_in(body));
  ChatEvent event;
  if (const auto usage = body.find("usage"); usage != body.end() && usage->is_object()) {
    const auto tokens = usage->find("completion_tokens");
    if (tokens != usage->end() && tokens->is_number_integer()) event.completion_tokens = tokens->get<int>();
  }
  const auto choices = body.find("choices");
  if (choices == body.end() || !choices->is_array() || choices->empty()) return event;
  const Json& choice = choices->front();
  if (choice.is_object() && choice.contains("delta")) event.content = text_of(choice["delta"], "content");
  if (const std::string finish = text_of(choice, "finish_reason"); !finish.empty()) event.finish = finish;
  return event;
}

std::string error_message_of(int status, std::string_view body) {
  const std::string message = message_in(Json::parse(body, nullptr, false));
  if (!message.empty()) return format("{} (HTTP {})", message, status);
  return format("HTTP {}: {}", status, body.empty() ? "no explanation" : body.substr(0, 200));
}

Result<std::string> first_model_of(std::string_view body) {
  const Json list = Json::parse(body, nullptr, false);
  const auto data = list.is_object() ? list.find("data") : list.end();
  if (data == list.end() || !data->is_array() || data->empty()) {
    return fail(ErrorCode::kNotFound, "the server lists no model; name one with --model");
  }
  const std::string id = text_of(data->front(), "id");
  if (id.empty())
    return fail(ErrorCode::kCorruptData, "the server lists a model without id; name one with --model");
  return id;
}

}  // namespace pagoda::app
