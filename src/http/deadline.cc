#include "http/deadline.h"

namespace pagoda::http {

void Deadline::sleep_until(TimePoint at) {
  wakes_at_ = at;
  timer_.expires_at(at);  // ends a wait under way
  timer_.async_wait([this, owner = expired_](boost::system::error_code error) {
    if (error || !expired_) return;
    wakes_at_ = TimePoint::max();
    if (Clock::now() >= at_) {
      clear();
      owner();
    } else if (at_ != TimePoint::max()) {
      sleep_until(at_);
    }
  });
}

}  // namespace pagoda::http
