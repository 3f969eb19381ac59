// Who holds the GPUs' device files, as fuser tells it: also in other containers, and processes whose main
// thread is dead.
#pragma once

#include <string>
#include <vector>

#include "driver/host_root.h"

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
  // All of the machine's processes were looked at: none hidden, and this is not a container's own /proc.
  bool sees_all = false;
};
Holders find_device_holders(const driver::HostRoot& root);

// All processes of the machine are in /proc: it is not a container's own. A laid-out tree counts as a
// machine.
bool shows_whole_machine(const driver::HostRoot& root);

// The short id of the container that a /proc/PID/cgroup names; empty: none.
std::string container_of(const std::string& cgroup);

}  // namespace pagoda::faults
