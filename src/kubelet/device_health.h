// Which devices can be given to containers, told by whoever watches them and read by whoever offers them.
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace pagoda::kubelet {

class DeviceHealth {
 public:
  // Unhealthy from now on: a GPU that reported such a fault is looked at by a person, or reset, first.
  void condemn(const std::string& uuid, std::string reason);
  // Unhealthy while it does not answer; true where that is news.
  bool set_silent(const std::string& uuid, bool silent);

  bool is_healthy(const std::string& uuid) const;
  // Empty where it is healthy.
  std::string reason(const std::string& uuid) const;

  // Grows with every change.
  uint64_t version() const;
  // Returns when version() is no longer `seen`, after close(), or after the timeout.
  void wait(uint64_t seen, std::chrono::milliseconds timeout) const;
  void close();
  bool closed() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, std::string> condemned_;  // UUID → reason
  std::map<std::string, bool> silent_;
  uint64_t version_ = 1;
  bool closed_ = false;
};

}  // namespace pagoda::kubelet
