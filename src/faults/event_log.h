// Everything recognised while reading, in bounded memory: equal events are one group with a count, of which
// the first and the last are kept.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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
  // Of more groups than a person looks at, so few are kept at either end.
  static constexpr size_t kManyGroups = 512, kKeptOfMany = 2;

  // Groups by fault and its key fields. Sets the event's order.
  void add(Event event);
  void add(Event event, std::string_view key);
  // One more of a group that is there; of no group: dropped.
  void count_one_more(std::string_view key);
  static std::string key_of(const FaultRow& fault, const Fields& fields);
  // In the order of their first event.
  const std::deque<EventGroup>& groups() const { return groups_; }
  // Events of kinds that did not fit any more.
  int64_t dropped() const { return dropped_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::deque<EventGroup> groups_;
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> by_key_;
  int64_t next_order_ = 0;
  int64_t dropped_ = 0;
};

}  // namespace pagoda::faults
