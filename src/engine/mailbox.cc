#include "engine/mailbox.h"

#include <utility>

namespace pagoda::engine {

bool Mailbox::post(std::unique_ptr<ActiveRequest>& request) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    mail_.requests.push_back(std::move(request));
  }
  arrived_.notify_one();
  return true;
}

void Mailbox::cancel(RequestId id) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    mail_.cancelled.push_back(id);
  }
  arrived_.notify_one();
}

void Mailbox::stop() {
  {
    const std::lock_guard lock(mutex_);
    mail_.stop = true;
    closed_ = true;
  }
  arrived_.notify_one();
}

void Mailbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

int Mailbox::requests() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(mail_.requests.size());
}

void Mailbox::collect(Mail& mail, bool may_sleep) {
  mail.requests.clear();
  mail.cancelled.clear();
  std::unique_lock lock(mutex_);
  if (may_sleep) {
    arrived_.wait(lock, [this] { return !mail_.requests.empty() || !mail_.cancelled.empty() || mail_.stop; });
  }
  std::swap(mail.requests, mail_.requests);
  std::swap(mail.cancelled, mail_.cancelled);
  mail.stop = mail_.stop;
}

}  // namespace pagoda::engine
