// Where tensors live and how much of it there is. A CPU and a GPU differ here only by kind and capacity.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace pagoda {

enum class DeviceKind { kCpu, kCuda };

struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;
  std::string name;            // "AMD EPYC 9654", "NVIDIA H200"
  int64_t capacity_bytes = 0;  // for a CPU: what is available under the cgroup's limit, not what is installed
};

// The CPU of this machine: capacity is the smaller of the kernel's MemAvailable and what the cgroup still
// allows.
Device cpu_device();

// One per device, owned by app, shared by all models on it. Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t bytes) : bytes_(bytes) {}
  int64_t bytes() const { return bytes_; }
  int64_t reserved() const { return reserved_.load(); }
  int64_t free() const { return bytes_ - reserved(); }
  // False, and nothing reserved, when it does not fit.
  bool reserve(int64_t bytes);
  void release(int64_t bytes) { reserved_.fetch_sub(bytes); }

 private:
  const int64_t bytes_;
  std::atomic<int64_t> reserved_{0};
};

}  // namespace pagoda
