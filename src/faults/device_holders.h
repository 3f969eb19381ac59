// Who holds the GPUs' device files, as fuser tells it: also in other containers, and processes whose main
// thread is dead.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pagoda::faults {

struct DeviceHolder {
  int pid = 0;
  std::string process;               // its name
  std::string container;             // short id, where its cgroup names one
  std::vector<std::string> devices;  // "/dev/nvidia0"; sorted
  bool dead = false;                 // its main thread has ended, another holds on
};

struct Holders {
  std::vector<DeviceHolder> holders;  // by pid
  int hidden = 0;                     // processes whose files this user may not see
};
Holders find_device_holders(const std::filesystem::path& root);

}  // namespace pagoda::faults
