#include "http/answer_queue.h"

#include <exception>

#include "base/log.h"

namespace pagoda::http {
namespace {

void call_guarded(const std::function<void()>& callback) {
  try {
    callback();
  } catch (const std::exception& e) {
    log::error("an on_disconnect callback threw: {}", e.what());
  } catch (...) {
    log::error("an on_disconnect callback threw");
  }
}

}  // namespace

AnswerQueue::AnswerQueue(std::weak_ptr<AnswerReader> reader, Request request, int64_t max_backlog_bytes)
    : reader_(std::move(reader)), request_(std::move(request)), max_backlog_bytes_(max_backlog_bytes) {}

bool AnswerQueue::accepts(Stage wanted, const char* call) {
  if (client_lost_) return false;
  if (stage_ == wanted) return true;
  log::error("{} {}: the handler called {}() out of turn; the call is ignored", request_.method,
             request_.path, call);
  return false;
}

void AnswerQueue::respond(Response response) {
  std::unique_lock lock(mutex_);
  if (!accepts(Stage::kNew, "respond")) return;
  stage_ = Stage::kEnded;
  part_.head = std::move(response);
  part_.ended = true;
  wake(std::move(lock));
}

void AnswerQueue::begin_stream(Response head) {
  std::unique_lock lock(mutex_);
  if (!accepts(Stage::kNew, "begin_stream")) return;
  stage_ = Stage::kStreaming;
  part_.head = std::move(head);
  part_.streaming = true;
  wake(std::move(lock));
}

void AnswerQueue::append(std::string chunk) {
  if (chunk.empty() || backlog_exceeded_) return;
  const int64_t backlog = being_written_ + static_cast<int64_t>(part_.bytes.size());
  if (backlog > max_backlog_bytes_) {  // one large chunk alone is no sign of a slow reader
    backlog_exceeded_ = true;
    wake_pending_ = false;  // the reader is busy writing and did not take the part that it was woken for
  } else if (part_.bytes.empty()) {
    part_.bytes = std::move(chunk);
  } else {
    part_.bytes += chunk;
  }
}

void AnswerQueue::send(std::string chunk) {
  std::unique_lock lock(mutex_);
  if (!accepts(Stage::kStreaming, "send") || chunk.empty() || backlog_exceeded_) return;
  append(std::move(chunk));
  wake(std::move(lock));
}

void AnswerQueue::end(std::string last_chunk) {
  std::unique_lock lock(mutex_);
  if (!accepts(Stage::kStreaming, "end")) return;
  append(std::move(last_chunk));
  stage_ = Stage::kEnded;
  part_.ended = true;
  wake(std::move(lock));
}

void AnswerQueue::give_up() {
  std::unique_lock lock(mutex_);
  if (client_lost_ || stage_ == Stage::kEnded) return;
  stage_ = Stage::kEnded;
  part_.given_up = true;
  wake(std::move(lock));
}

void AnswerQueue::on_disconnect(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!client_lost_) {
      if (stage_ != Stage::kEnded) disconnect_callbacks_.push_back(std::move(callback));
      return;
    }
  }
  call_guarded(callback);
}

// Off the strand the post happens under the lock. lose_client() needs the lock too and comes last on the
// strand, so nothing is ever posted after it, when the server and its threads may be gone.
void AnswerQueue::wake(std::unique_lock<std::mutex> lock) {
  if (wake_pending_) return;
  const auto reader = reader_.lock();
  if (!reader) return;
  if (reader->on_strand()) {
    lock.unlock();
    reader->read_answer();
  } else {
    wake_pending_ = true;
    reader->post_read_answer();
  }
}

AnswerQueue::Part AnswerQueue::take() {
  const std::lock_guard lock(mutex_);
  wake_pending_ = false;
  Part part = std::exchange(part_, {});
  part_.streaming = part.streaming;
  being_written_ = static_cast<int64_t>(part.bytes.size());
  return part;
}

bool AnswerQueue::backlog_exceeded() const {
  const std::lock_guard lock(mutex_);
  return backlog_exceeded_;
}

bool AnswerQueue::ended() const {
  const std::lock_guard lock(mutex_);
  return stage_ == Stage::kEnded;
}

void AnswerQueue::lose_client() {
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    if (client_lost_) return;
    client_lost_ = true;
    if (stage_ != Stage::kEnded) callbacks.swap(disconnect_callbacks_);
    part_ = {};
  }
  for (const auto& callback : callbacks) call_guarded(callback);
}

void AnswerQueue::retire() {
  std::vector<std::function<void()>> callbacks;  // destroyed outside the lock: they may own anything
  const std::lock_guard lock(mutex_);
  callbacks.swap(disconnect_callbacks_);
}

}  // namespace pagoda::http
