// For tests: an exchange that keeps what it is answered with. Calls may come from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/openai/json_body.h"
#include "http/message.h"

namespace pagoda::api::testing {

class RecordedExchange : public http::Exchange {
 public:
  explicit RecordedExchange(http::Request request) : request_(std::move(request)) {}

  const http::Request& request() const override { return request_; }
  void respond(http::Response response) override {
    set([&] {
      response_ = std::move(response);
      done_ = true;
    });
  }
  void begin_stream(http::Response head) override {
    set([&] {
      response_ = std::move(head);
      streamed_ = true;
    });
  }
  void send(std::string chunk) override {
    set([&] { text_ += chunk; });
  }
  void end(std::string last_chunk = {}) override {
    set([&] {
      text_ += last_chunk;
      done_ = true;
    });
  }
  void on_disconnect(std::function<void()> callback) override {
    set([&] { on_disconnect_ = std::move(callback); });
  }

  void disconnect() {
    std::function<void()> callback;
    set([&] { callback = on_disconnect_; });
    if (callback) callback();
  }
  // False when no answer ended within five seconds.
  bool wait() {
    return wait_until([this] { return done_; });
  }
  bool wait_for_text(std::string_view part) {
    return wait_until([&] { return text_.find(part) != std::string::npos; });
  }
  bool watched() {
    return wait_until([this] { return static_cast<bool>(on_disconnect_); });
  }

  // After wait().
  const http::Response& response() const { return *response_; }
  int status() const { return response_->status; }
  bool streamed() const { return streamed_; }
  Json json() const { return Json::parse(response_->body); }
  const std::string& text() const { return text_; }
  // The events of a stream, "[DONE]" as a string.
  std::vector<Json> events() const {
    std::vector<Json> events;
    size_t at = 0;
    while (at < text_.size()) {
      const size_t end = text_.find("\n\n", at);
      const std::string event = text_.substr(at, end - at);
      const std::string data = event.substr(std::string("data: ").size());
      events.push_back(data == "[DONE]" ? Json(data) : Json::parse(data));
      at = end + 2;
    }
    return events;
  }

 private:
  template <class Change>
  void set(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }
  template <class Condition>
  bool wait_until(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(5), condition);
  }

  http::Request request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<http::Response> response_;
  std::string text_;
  bool streamed_ = false, done_ = false;
  std::function<void()> on_disconnect_;
};

inline std::shared_ptr<RecordedExchange> make_exchange(std::string method, std::string path,
                                                       std::string body = {}) {
  http::Request request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.body = std::move(body);
  request.headers.set("Content-Type", "application/json");
  request.peer = "127.0.0.1:1";
  return std::make_shared<RecordedExchange>(std::move(request));
}

}  // namespace pagoda::api::testing
