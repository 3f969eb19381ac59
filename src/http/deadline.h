// One deadline that moves often: moving it costs a comparison, because the timer below wakes early, looks,
// and sleeps on. For one strand.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "http/transport.h"

namespace pagoda::http {

class Deadline {
 public:
  explicit Deadline(const Strand& strand) : timer_(strand) {}

  // Calls `expired` on the strand once a deadline has passed. It must keep the owner of the Deadline alive:
  // it is held, and with it the owner, until stop().
  void start(std::function<void()> expired) { expired_ = std::move(expired); }
  void set(double seconds_from_now) {
    at_ = Clock::now() +
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_from_now));
    if (expired_ && at_ < wakes_at_) sleep_until(at_);
  }
  void clear() { at_ = TimePoint::max(); }
  void stop() {
    clear();
    expired_ = nullptr;
    timer_.cancel();
  }

 private:
  void sleep_until(TimePoint at);

  boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Strand> timer_;
  TimePoint at_ = TimePoint::max(), wakes_at_ = TimePoint::max();
  std::function<void()> expired_;
};

}  // namespace pagoda::http
