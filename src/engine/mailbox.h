// What other threads send to the engine thread: requests and cancellations.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/active_request.h"

namespace pagoda::engine {

struct Mail {
  std::vector<std::unique_ptr<ActiveRequest>> requests;
  std::vector<RequestId> cancelled;
  bool stop = false;
};

// Any thread posts, the engine thread collects.
class Mailbox {
 public:
  // False, and the request is still the caller's, when the box is closed.
  bool post(std::unique_ptr<ActiveRequest>& request);
  void cancel(RequestId id);
  void stop();
  // Nothing can be posted from now on.
  void close();

  int requests() const;

  // What has come since the last call; sleeps until there is something, if `may_sleep`.
  void collect(Mail& mail, bool may_sleep);

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  Mail mail_;
  bool closed_ = false;
};

}  // namespace pagoda::engine
