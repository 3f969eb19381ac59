// One OpenAI-compatible server as the chat sees it.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "app/chat_protocol.h"
#include "base/result.h"

namespace pagoda::app {

class ChatConnection {
 public:
  // `url` as a person writes it; an empty key sends none.
  ChatConnection(const std::string& url, std::string api_key);

  const std::string& base() const { return base_; }  // "http://127.0.0.1:8000/v1"

  // What GET /v1/models lists first.
  Result<std::string> first_model();

  // Streams one answer, event by event, on the calling thread. When `stopped` turns true it hangs up and
  // returns kCancelled soon.
  Status stream_answer(const std::string& body, const std::function<void(const ChatEvent&)>& on_event,
                       const std::atomic<bool>& stopped);

 private:
  std::string base_;
  std::string api_key_;
};

}  // namespace pagoda::app
