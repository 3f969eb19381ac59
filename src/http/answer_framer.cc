#include "http/answer_framer.h"

#include <fmt/format.h>
#include <iterator>

#include "base/format.h"
#include "http/response_head.h"

namespace pagoda::http {

std::string AnswerFramer::frame_head(const Response& head, bool streaming) {
  status_ = head.status;
  if (same_field_name(head.headers.get("Connection"), "close")) close_after();
  ResponseFraming framing{Framing::kLength, traits_.http_1_0, traits_.keep_alive};
  if (!status_has_body(status_)) {
    framing.framing = Framing::kNone;
  } else if (streaming) {
    framing.framing = traits_.http_1_0 ? Framing::kUntilClose : Framing::kChunked;
    if (traits_.http_1_0) close_after();
    framing.keep_alive = traits_.keep_alive;
  }
  chunked_ = framing.framing == Framing::kChunked;
  body_wanted_ = framing.framing != Framing::kNone && !traits_.is_head;
  return serialise_head(head, framing);
}

AnswerFramer::Bytes AnswerFramer::frame(AnswerQueue::Part part) {
  Bytes bytes;
  if (part.head) {
    bytes.head = frame_head(*part.head, part.streaming);
    if (!part.streaming && body_wanted_) bytes.body = std::move(part.head->body);
  }
  if (part.streaming && body_wanted_) {
    if (chunked_ && !part.bytes.empty())
      fmt::format_to(std::back_inserter(bytes.head), "{:x}\r\n", part.bytes.size());
    const bool any = !part.bytes.empty();
    bytes.body = std::move(part.bytes);
    if (chunked_ && any) bytes.body += "\r\n";
    if (chunked_ && part.ended) bytes.body += "0\r\n\r\n";
  }
  complete_ = part.ended;
  return bytes;
}

}  // namespace pagoda::http
