// The kernel's log as it grows, as events: what a daemon remembers of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/host_root.h"
#include "faults/finding.h"
#include "faults/pattern_matcher.h"

namespace pagoda::faults {

class KernelLogFollower {
 public:
  // /dev/kmsg below `root`; a plain file in a laid-out tree. kUnauthorized, kNotFound as read_kernel_log().
  static Result<std::unique_ptr<KernelLogFollower>> open(const driver::HostRoot& root,
                                                         std::shared_ptr<const PatternMatcher> matcher);
  ~KernelLogFollower();
  KernelLogFollower(const KernelLogFollower&) = delete;
  KernelLogFollower& operator=(const KernelLogFollower&) = delete;

  // What was logged since the last call; the first call gives what the log holds already. Of many equal
  // events the first and the last few, as EventLog keeps them.
  std::vector<Event> new_events();
  // Readable (poll(2)) when there is something new; -1: a plain file, which has to be asked again and again.
  int descriptor() const { return is_device_ ? descriptor_ : -1; }
  // Seconds since this event was logged; negative: its stamp cannot be compared with this machine's clock.
  double age_seconds(const Event& event) const;

 private:
  KernelLogFollower(int descriptor, bool is_device, std::shared_ptr<const PatternMatcher> matcher)
      : descriptor_(descriptor), is_device_(is_device), matcher_(std::move(matcher)) {}
  std::string new_text();

  const int descriptor_;
  const bool is_device_;
  std::shared_ptr<const PatternMatcher> matcher_;
  std::string partial_;  // of a plain file's last line
};

}  // namespace pagoda::faults
