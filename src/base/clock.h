// Monotonic time in seconds, and a stopwatch on it.
#pragma once

#include <chrono>

namespace pagoda {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

inline double seconds_between(TimePoint from, TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

class Stopwatch {
 public:
  double seconds() const { return seconds_between(start_, Clock::now()); }
  void restart() { start_ = Clock::now(); }

 private:
  TimePoint start_ = Clock::now();
};

}  // namespace pagoda
