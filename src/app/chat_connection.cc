#include "app/chat_connection.h"

#include <utility>

#include "app/http_call.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

// What to do when nobody listens there.
Error with_remedy(Error error) {
  if (error.code == ErrorCode::kUnavailable && error.message.find("cannot connect") != std::string::npos) {
    error.message += "; `pagoda serve MODEL` starts a server, --url names another one";
  }
  return error;
}

}  // namespace

ChatConnection::ChatConnection(const std::string& url, std::string api_key)
    : base_(api_base(url)), api_key_(std::move(api_key)) {}

Result<std::string> ChatConnection::first_model() {
  std::string body;
  const std::atomic<bool> never{false};
  const auto status = call_http(
      {"GET", base_ + "/models", api_key_, ""}, [&](int, std::string_view piece) { body += piece; }, never);
  if (!status) return Unexpected(with_remedy(status.error()));
  if (*status != 200) return fail(ErrorCode::kUnavailable, error_message_of(*status, body));
  return first_model_of(body);
}

Status ChatConnection::stream_answer(const std::string& body,
                                     const std::function<void(const ChatEvent&)>& on_event,
                                     const std::atomic<bool>& stopped) {
  EventReader reader;
  std::string refusal;
  Status fault;
  const auto take_event = [&](std::string_view data) {
    if (!fault || data == "[DONE]") return;
    const auto event = read_chat_event(data);
    if (event) {
      on_event(*event);
    } else {
      fault = Unexpected(event.error());
    }
  };
  const auto status = call_http(
      {"POST", base_ + "/chat/completions", api_key_, body},
      [&](int code, std::string_view piece) {
        if (code == 200) {
          reader.accept(piece, take_event);
        } else {
          refusal += piece;
        }
      },
      stopped);
  if (!status) return Unexpected(with_remedy(status.error()));
  if (*status != 200) return fail(ErrorCode::kUnavailable, error_message_of(*status, refusal));
  return fault;
}

}  // namespace pagoda::app
