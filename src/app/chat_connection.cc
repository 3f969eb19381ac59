#include "app/chat_connection.h"

#include <utility>

#include "http/sse.h"

namespace pagoda::app {
namespace {

constexpr int kOk = 200;

// What to do when nobody listens there.
Unexpected with_remedy(Error error) {
  if (error.code == ErrorCode::kUnavailable && error.message.find("refused") != std::string::npos) {
    error.message += "; `pagoda serve MODEL` starts a server, --url names another one";
  }
  return Unexpected(std::move(error));
}

}  // namespace

ChatConnection::ChatConnection(const std::string& url, std::string api_key)
    : base_(api_base(url)), api_key_(std::move(api_key)) {}

Result<http::ClientRequest> ChatConnection::request(std::string method, const std::string& path,
                                                    std::string body) const {
  http::ClientRequest request;
  PAGODA_ASSIGN(request.url, http::Url::parse(base_ + path));
  request.method = std::move(method);
  request.body = std::move(body);
  if (!request.body.empty()) request.headers.set("Content-Type", "application/json");
  if (!api_key_.empty()) request.headers.set("Authorization", "Bearer " + api_key_);
  return request;
}

Result<std::string> ChatConnection::first_model() {
  PAGODA_ASSIGN(const auto list, request("GET", "/models", ""));
  const auto answer = client_.fetch(list);
  if (!answer) return with_remedy(answer.error());
  if (answer->status != kOk) {
    return fail(ErrorCode::kUnavailable, error_message_of(answer->status, answer->body));
  }
  return first_model_of(answer->body);
}

Status ChatConnection::stream_answer(const std::string& body,
                                     const std::function<void(const ChatEvent&)>& on_event) {
  http::SseSplitter splitter;
  std::string refusal;
  Status fault;
  // False once there is nothing more to read: [DONE], or a fault.
  const auto take = [&](std::string_view bytes) {
    const auto events = splitter.feed(bytes);
    if (!events) fault = Unexpected(events.error());
    for (const auto& event : events ? *events : std::vector<http::SseEvent>{}) {
      if (event.data == "[DONE]") return false;
      const auto read = read_chat_event(event.data);
      if (!read) fault = Unexpected(read.error());
      if (!fault) return false;
      on_event(*read);
    }
    return fault.has_value();
  };
  PAGODA_ASSIGN(const auto question, request("POST", "/chat/completions", body));
  const auto answer = client_.stream(question, [&](const http::Response& head, std::string_view bytes) {
    if (head.status == kOk) return take(bytes);
    refusal += bytes;
    return true;
  });
  if (!answer) return with_remedy(answer.error());
  if (answer->status != kOk) {
    return fail(ErrorCode::kUnavailable, error_message_of(answer->status, refusal));
  }
  return fault;
}

}  // namespace pagoda::app
