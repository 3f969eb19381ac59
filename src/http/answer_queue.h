// What a handler has said and the connection has not yet written: the thread-safe meeting point of the two.
// Handlers reach it through an Exchange from any thread; the connection empties it on its strand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "http/message.h"

namespace pagoda::http {

// The connection as the queue sees it.
class AnswerReader {
 public:
  virtual ~AnswerReader() = default;
  virtual bool on_strand() const = 0;
  virtual void read_answer() = 0;       // on the strand only: takes what is there and writes it
  virtual void post_read_answer() = 0;  // any thread: read_answer() on the strand, soon
};

class AnswerQueue {
 public:
  AnswerQueue(std::weak_ptr<AnswerReader> reader, Request request, int64_t max_backlog_bytes);

  const Request& request() const { return request_; }

  // Any thread.
  void respond(Response response);
  void begin_stream(Response head);
  void send(std::string chunk);
  void end(std::string last_chunk);
  void on_disconnect(std::function<void()> callback);
  void give_up();  // the handler threw or dropped its Exchange: 500, or a stream cut off

  // On the strand.
  struct Part {
    std::optional<Response> head;  // with its whole body, unless `streaming`
    bool streaming = false;
    std::string bytes;      // of the stream
    bool ended = false;     // nothing follows
    bool given_up = false;  // nothing follows, and the answer is not whole
  };
  Part take();
  bool ended() const;
  bool backlog_exceeded() const;  // more than the limit waits: the client reads too slowly
  void lose_client();             // calls on_disconnect's callbacks, once, unless the answer has ended
  void retire();                  // the answer is written: forgets the callbacks

 private:
  enum class Stage { kNew, kStreaming, kEnded };
  bool accepts(Stage wanted, const char* call);
  void append(std::string chunk);  // under the lock
  void wake(std::unique_lock<std::mutex> lock);

  const std::weak_ptr<AnswerReader> reader_;
  const Request request_;
  const int64_t max_backlog_bytes_;

  mutable std::mutex mutex_;  // guards all below
  Stage stage_ = Stage::kNew;
  bool client_lost_ = false, wake_pending_ = false, backlog_exceeded_ = false;
  Part part_;
  int64_t being_written_ = 0;  // bytes of the part taken last
  std::vector<std::function<void()>> disconnect_callbacks_;
};

// The handler's end. Destroying the last reference to it without having ended the answer gives up.
class QueuedExchange : public Exchange {
 public:
  explicit QueuedExchange(std::shared_ptr<AnswerQueue> queue) : queue_(std::move(queue)) {}
  ~QueuedExchange() override { queue_->give_up(); }
  const Request& request() const override { return queue_->request(); }
  void respond(Response response) override { queue_->respond(std::move(response)); }
  void begin_stream(Response head) override { queue_->begin_stream(std::move(head)); }
  void send(std::string chunk) override { queue_->send(std::move(chunk)); }
  void end(std::string last_chunk = {}) override { queue_->end(std::move(last_chunk)); }
  void on_disconnect(std::function<void()> callback) override { queue_->on_disconnect(std::move(callback)); }

 private:
  const std::shared_ptr<AnswerQueue> queue_;
};

}  // namespace pagoda::http
