// The driver's device nodes in /dev, and the numbers that they must have (/proc/devices).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/host_root.h"

namespace pagoda::driver {

inline constexpr int kNvidiaMajor = 195;
inline constexpr int kNvidiaModesetMinor = 254;
inline constexpr int kNvidiaCtlMinor = 255;

struct DeviceNode {
  std::string path;  // "/dev/nvidia0"
  uint32_t major = 0, minor = 0, mode = 0;
};

struct DeviceNodes {
  std::vector<DeviceNode> present;       // /dev/nvidia* and /dev/nvidia-caps/*, sorted by path
  std::vector<std::string> not_devices;  // names that are files or folders where a node belongs
  std::map<std::string, int> majors;     // of /proc/devices: "nvidia-uvm" → 511

  const DeviceNode* find(std::string_view path) const;
};

DeviceNodes read_device_nodes(const HostRoot& root);

}  // namespace pagoda::driver
