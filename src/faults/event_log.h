// Everything recognised while reading, in bounded memory: equal events are one group with a count, of which
// the first and the last are kept.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "faults/finding.h"

namespace pagoda::faults {

struct EventGroup {
  const FaultRow* fault = nullptr;
  int64_t count = 0;
  std::vector<Event> first;  // at most kKept
  std::deque<Event> last;    // at most kKept, none of them in `first`
};

class EventLog {
 public:
  static constexpr size_t kKept = 8;
  static constexpr size_t kMostGroups = 4096;

  // Groups by fault and its key fields. Sets the event's order.
  void add(Event event);
  // In the order of their first event.
  const std::deque<EventGroup>& groups() const { return groups_; }
  // Events of kinds that did not fit any more.
  int64_t dropped() const { return dropped_; }

 private:
  std::deque<EventGroup> groups_;
  std::unordered_map<std::string, size_t> by_key_;
  int64_t next_order_ = 0;
  int64_t dropped_ = 0;
};

}  // namespace pagoda::faults
