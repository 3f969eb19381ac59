#include "kubelet/device_health.h"

namespace pagoda::kubelet {

void DeviceHealth::condemn(const std::string& uuid, std::string reason) {
  std::lock_guard lock(mutex_);
  if (!condemned_.emplace(uuid, std::move(reason)).second) return;
  ++version_;
  changed_.notify_all();
}

bool DeviceHealth::set_silent(const std::string& uuid, bool silent) {
  std::lock_guard lock(mutex_);
  bool& before = silent_[uuid];
  if (before == silent) return false;
  before = silent;
  ++version_;
  changed_.notify_all();
  return true;
}

bool DeviceHealth::is_healthy(const std::string& uuid) const {
  return reason(uuid).empty();
}

std::string DeviceHealth::reason(const std::string& uuid) const {
  std::lock_guard lock(mutex_);
  if (const auto found = condemned_.find(uuid); found != condemned_.end()) return found->second;
  const auto silent = silent_.find(uuid);
  return silent != silent_.end() && silent->second ? "it does not answer" : "";
}

uint64_t DeviceHealth::version() const {
  std::lock_guard lock(mutex_);
  return version_;
}

void DeviceHealth::wait(uint64_t seen, std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return version_ != seen || closed_; });
}

void DeviceHealth::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool DeviceHealth::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace pagoda::kubelet
