// Posts JSON to an address until it is taken: a bounded queue and one thread that tries again, ever more
// patiently. The address and the token may be secrets: what is logged names the host alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "http/client.h"

namespace pagoda::app {

struct WebhookOptions {
  http::Url url;
  std::string token;  // sent as "Authorization: Bearer …"; empty: none
  size_t queue_max = 256;
  int tries_max = 10;        // of one message
  double first_delay_s = 1;  // doubled after each failed try, up to
  double longest_delay_s = 300;
};

class Webhook {
 public:
  struct Counts {
    int64_t delivered = 0;
    int64_t dropped = 0;  // refused by the receiver, given up after the last try, or pushed out of the queue
  };

  explicit Webhook(WebhookOptions options);
  // What is queued is tried once more, for `kLastSeconds` at most.
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  // Never waits. When the queue is full, its oldest message goes.
  void post(std::string json);
  Counts counts() const;

  static constexpr double kLastSeconds = 5;

 private:
  enum class Outcome { kTaken, kRefused, kFailed };
  void run();
  Outcome send(const std::string& json);
  void wait_to_retry(std::unique_lock<std::mutex>& lock, double seconds);

  const WebhookOptions options_;
  const std::string receiver_;  // "https://hooks.example.com": what may be logged
  http::Client client_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> queue_;
  Counts counts_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace pagoda::app
