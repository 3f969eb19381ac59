// One OpenAI-compatible server as the chat sees it.
#pragma once

#include <functional>
#include <string>

#include "app/chat_protocol.h"
#include "base/result.h"
#include "http/client.h"

namespace pagoda::app {

class ChatConnection {
 public:
  // `url` as a person writes it; kInvalidArgument says what is wrong with it. An empty key sends none.
  ChatConnection(const std::string& url, std::string api_key);

  const std::string& base() const { return base_; }  // "http://127.0.0.1:8000/v1"

  // What GET /v1/models lists first.
  Result<std::string> first_model();

  // Streams one answer, event by event, on the calling thread.
  Status stream_answer(const std::string& body, const std::function<void(const ChatEvent&)>& on_event);

  // Any thread, and a signal handler: the call under way ends soon with kCancelled.
  void cancel() { client_.cancel(); }

 private:
  Result<http::ClientRequest> request(std::string method, const std::string& path, std::string body) const;

  std::string base_;
  std::string api_key_;
  http::Client client_;
};

}  // namespace pagoda::app
