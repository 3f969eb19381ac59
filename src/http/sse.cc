#include "http/sse.h"

#include <utility>

#include "base/format.h"

namespace pagoda::http {
namespace {

constexpr size_t kMaxEventBytes = size_t{64} << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

void SseSplitter::take_line(std::string_view line, std::vector<SseEvent>& events) {
  if (std::exchange(at_start_, false) && line.starts_with(kByteOrderMark))
    line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) {
    SseEvent event = std::exchange(event_, {});
    if (std::exchange(has_data_, false)) events.push_back(std::move(event));
    return;
  }
  const size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "event") {
    event_.type = value;
  } else if (name == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  }
  // A comment (no name), "id", "retry" and unknown fields matter only to who connects again.
}

Result<std::vector<SseEvent>> SseSplitter::feed(std::string_view bytes) {
  std::vector<SseEvent> events;
  while (!bytes.empty()) {
    if (std::exchange(after_carriage_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + event_.data.size() > kMaxEventBytes) {
      return fail(ErrorCode::kCorruptData,
                  format("the stream holds an event of more than {} bytes", kMaxEventBytes));
    }
    if (end == std::string_view::npos) break;
    after_carriage_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    take_line(line_, events);
    line_.clear();
  }
  return events;
}

}  // namespace pagoda::http
