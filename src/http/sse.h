// Server-sent events, read: bytes as they arrive → events (WHATWG HTML, section 9.2.6).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::http {

struct SseEvent {
  std::string type;  // of the "event:" field; empty means "message"
  std::string data;  // several "data:" lines are joined by '\n'
};

class SseSplitter {
 public:
  // The events that `bytes` completes, in order; a line or event may be cut anywhere between calls. An event
  // that the stream's end cuts off is never returned, as the standard has it. kCorruptData: an event above 64
  // MiB.
  Result<std::vector<SseEvent>> feed(std::string_view bytes);

 private:
  void take_line(std::string_view line, std::vector<SseEvent>& events);

  std::string line_;
  SseEvent event_;
  bool has_data_ = false, after_carriage_return_ = false, at_start_ = true;
};

}  // namespace pagoda::http
