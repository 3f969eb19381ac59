// Faults over time: which appear, change and clear from one examination to the next.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "faults/finding.h"

namespace pagoda::faults {

using WallTime = std::chrono::system_clock::time_point;

struct WatchedStory {
  Story story;
  WallTime since;  // when it was first seen
  WallTime last_seen;
};

struct Transition {
  enum class Kind { kAppeared, kChanged, kCleared };
  Kind kind = Kind::kAppeared;
  WatchedStory watched;
};
std::string_view name_of(Transition::Kind kind);

// Pure: no clock and no thread of its own.
class FaultWatch {
 public:
  // Examinations in a row that a story must be absent from before it counts as cleared: readings at a
  // threshold come and go.
  static constexpr int kClearAfter = 2;

  // In the report's order, cleared ones last. A story changes with its severity or its set of findings, not
  // with a number in a sentence.
  std::vector<Transition> update(const Report& report, WallTime now);
  // The current stories, worst first.
  std::vector<WatchedStory> current() const;

 private:
  struct Entry {
    WatchedStory watched;
    int absent = 0;
  };
  std::map<std::string, Entry> entries_;  // by identity
};

// Its root's fault and subject: what stays the same while it lasts.
std::string identity_of(const Story& story);

// Events of logs, which have a moment and no end: each is told until it is `age` old.
class EventMemory {
 public:
  static constexpr size_t kMost = 4096;
  explicit EventMemory(std::chrono::seconds age) : age_(age) {}

  void add(Event event, WallTime logged_at);
  void forget(WallTime now);
  const std::deque<std::pair<WallTime, Event>>& events() const { return events_; }

 private:
  const std::chrono::seconds age_;
  std::deque<std::pair<WallTime, Event>> events_;
};

}  // namespace pagoda::faults
