// The parts of an answer → bytes of HTTP/1.x, as the request and its version want them.
#pragma once

#include <string>

#include "http/answer_queue.h"

namespace pagoda::http {

class AnswerFramer {
 public:
  struct RequestTraits {
    bool http_1_0 = false;
    bool is_head = false;  // headers as of GET, and no body
    bool keep_alive = true;
  };
  explicit AnswerFramer(RequestTraits traits) : traits_(traits) {}

  // Before the head is framed: the connection ends with this answer.
  void close_after() { traits_.keep_alive = false; }

  struct Bytes {
    std::string head, body;  // to be written in this order; either may be empty
  };
  // All that is queued becomes one chunk.
  Bytes frame(AnswerQueue::Part part);

  bool started() const { return status_ != 0; }
  bool complete() const { return complete_; }
  bool keep_alive() const { return traits_.keep_alive; }
  int status() const { return status_; }  // 0 until started

 private:
  std::string frame_head(const Response& head, bool streaming);

  RequestTraits traits_;
  bool chunked_ = false, body_wanted_ = true, complete_ = false;
  int status_ = 0;
};

}  // namespace pagoda::http
