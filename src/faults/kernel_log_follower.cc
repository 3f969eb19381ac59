#include "faults/kernel_log_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "faults/kernel_log_reader.h"
#include "faults/text_scanner.h"

namespace pagoda::faults {
namespace {

constexpr size_t kMostBytesAtOnce = size_t{32} << 20;

}  // namespace

Result<std::unique_ptr<KernelLogFollower>> KernelLogFollower::open(
    const driver::HostRoot& root, std::shared_ptr<const PatternMatcher> matcher) {
  const std::string path = root.outside("/dev/kmsg");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    const bool denied = errno == EACCES || errno == EPERM;
    return fail(denied ? ErrorCode::kUnauthorized : ErrorCode::kNotFound,
                format("the kernel log cannot be followed ({}: {})", path, std::strerror(errno)));
  }
  struct stat status {};
  const bool is_device = ::fstat(descriptor, &status) == 0 && S_ISCHR(status.st_mode);
  return std::unique_ptr<KernelLogFollower>(new KernelLogFollower(descriptor, is_device, std::move(matcher)));
}

KernelLogFollower::~KernelLogFollower() {
  ::close(descriptor_);
}

// A device gives one record a read, a plain file any piece.
std::string KernelLogFollower::new_text() {
  std::string text;
  char piece[8192];
  while (text.size() < kMostBytesAtOnce) {
    const ssize_t count = ::read(descriptor_, piece, sizeof piece);
    if (count < 0 && (errno == EPIPE || errno == EINTR)) continue;  // EPIPE: records were overwritten
    if (count <= 0) break;
    const std::string_view bytes(piece, static_cast<size_t>(count));
    if (is_device_) {
      text += dmesg_line(bytes);
    } else {
      partial_ += bytes;
    }
  }
  for (size_t newline; (newline = partial_.find('\n')) != std::string::npos; partial_.erase(0, newline + 1))
    text += dmesg_line(std::string_view(partial_).substr(0, newline + 1));
  return text;
}

std::vector<Event> KernelLogFollower::new_events() {
  const std::string text = new_text();
  if (text.empty()) return {};
  Records records;
  TextScanner scanner(*matcher_, records, "kernel log");
  scanner.feed(text);
  scanner.finish();
  std::vector<Event> events;
  for (const EventGroup& group : records.events.groups()) {
    events.insert(events.end(), group.first.begin(), group.first.end());
    events.insert(events.end(), group.last.begin(), group.last.end());
  }
  for (Event& event : events) event.evidence.line = 0;  // it would count from the last look
  return events;
}

double KernelLogFollower::age_seconds(const Event& event) const {
  if (!is_device_ || event.when.clock != LineTime::Clock::kBoot) return -1;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // the kernel's own stamps follow it to within a second or so
  return std::max(0.0, static_cast<double>(now.tv_sec) - event.when.seconds);
}

}  // namespace pagoda::faults
