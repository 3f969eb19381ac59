#include "app/webhook.h"

#include <algorithm>
#include <chrono>

#include "base/format.h"
#include "base/log.h"

namespace pagoda::app {
namespace {

http::ClientOptions client_options() {
  http::ClientOptions options;
  options.silence_timeout_s = 30;
  options.max_body_bytes = 1 << 20;  // nobody reads the answer
  return options;
}

// Another try of the same request may succeed.
bool is_passing(int status) {
  return status >= 500 || status == 408 || status == 425 || status == 429;
}

}  // namespace

Webhook::Webhook(WebhookOptions options)
    : options_(std::move(options)),
      receiver_(options_.url.scheme + "://" + options_.url.authority()),
      client_(client_options()),
      thread_([this] { run(); }) {}

Webhook::~Webhook() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(kLastSeconds);
  {
    std::unique_lock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
    changed_.wait_until(lock, until, [this] { return queue_.empty(); });
    if (!queue_.empty())
      log::warning("{}: {} messages were not delivered before the end", receiver_, queue_.size());
    queue_.clear();
  }
  client_.cancel();
  changed_.notify_all();
  thread_.join();
}

void Webhook::post(std::string json) {
  const std::scoped_lock lock(mutex_);
  if (queue_.size() >= options_.queue_max) {
    queue_.pop_front();
    ++counts_.dropped;
    log::warning("{}: the queue is full ({} messages); the oldest is dropped", receiver_, options_.queue_max);
  }
  queue_.push_back(std::move(json));
  changed_.notify_all();
}

Webhook::Counts Webhook::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

Webhook::Outcome Webhook::send(const std::string& json) {
  http::ClientRequest request;
  request.method = "POST";
  request.url = options_.url;
  request.headers.set("Content-Type", "application/json");
  request.headers.set("User-Agent", "pagoda-doctor");
  if (!options_.token.empty()) request.headers.set("Authorization", "Bearer " + options_.token);
  request.body = json;
  const auto answer = client_.fetch(request);
  if (!answer) {
    log::warning("{}: {}", receiver_, answer.error().message);
    return Outcome::kFailed;
  }
  if (answer->status >= 200 && answer->status < 300) return Outcome::kTaken;
  log::warning("{}: answered with status {}", receiver_, answer->status);
  return is_passing(answer->status) ? Outcome::kFailed : Outcome::kRefused;
}

void Webhook::wait_to_retry(std::unique_lock<std::mutex>& lock, double seconds) {
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ending_; });
}

void Webhook::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::string json = std::move(queue_.front());
    queue_.pop_front();
    double delay = options_.first_delay_s;
    Outcome outcome = Outcome::kFailed;
    for (int tries = 0; outcome == Outcome::kFailed && tries < options_.tries_max; ++tries) {
      if (tries > 0) wait_to_retry(lock, delay);
      if (tries > 0) delay = std::min(2 * delay, options_.longest_delay_s);
      const bool last_try = ending_;
      lock.unlock();
      outcome = send(json);
      lock.lock();
      if (last_try) break;
    }
    ++(outcome == Outcome::kTaken ? counts_.delivered : counts_.dropped);
    changed_.notify_all();
  }
}

}  // namespace pagoda::app
