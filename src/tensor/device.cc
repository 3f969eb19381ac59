#include "tensor/device.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace pagoda {
namespace {

int64_t mem_available() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    int64_t kib = 0;
    if (words >> key >> kib && key == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

// A number from a one-line file; "max" and a missing file mean no limit.
int64_t limit_from(const std::string& path) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : std::numeric_limits<int64_t>::max();
}

// What the memory cgroup still allows: v2 as mounted in a container, then v1.
int64_t cgroup_available() {
  const int64_t none = std::numeric_limits<int64_t>::max();
  int64_t limit = limit_from("/sys/fs/cgroup/memory.max");
  int64_t used = limit_from("/sys/fs/cgroup/memory.current");
  if (limit == none) {
    limit = limit_from("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    used = limit_from("/sys/fs/cgroup/memory/memory.usage_in_bytes");
  }
  return limit == none || used == none ? none : std::max<int64_t>(0, limit - used);
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "CPU";
}

}  // namespace

Device cpu_device() {
  return {DeviceKind::kCpu, 0, cpu_name(), std::min(mem_available(), cgroup_available())};
}

bool MemoryBudget::reserve(int64_t bytes) {
  int64_t reserved = reserved_.load();
  do {
    if (bytes > bytes_ - reserved) return false;
  } while (!reserved_.compare_exchange_weak(reserved, reserved + bytes));
  return true;
}

}  // namespace pagoda
