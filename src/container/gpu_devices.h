// The GPUs that containers can be given, whatever they were found by.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/host_root.h"

namespace pagoda::container {

struct MigDevice {
  int gpu_instance = 0, compute_instance = 0;
  int gpu_capability_minor = 0, compute_capability_minor = 0;  // of /dev/nvidia-caps/nvidia-cap<minor>
  std::string uuid;  // "MIG-…"; empty where the source does not know it
};

struct GpuDevice {
  int index = 0;            // by PCI address, as nvidia-smi counts
  int minor = 0;            // of /dev/nvidia<minor>: need not be the index
  std::string uuid;         // "GPU-…"
  std::string pci_address;  // "0000:17:00.0"
  std::string name;
  std::vector<MigDevice> migs;  // in the order of their instances: position is the N of "0:N"
};

// From /proc/driver/nvidia, which the kernel module keeps; needs no library. WSL has one device for all GPUs
// and is not read here. Sorted by index.
std::vector<GpuDevice> gpus_in_proc(const driver::HostRoot& root);

}  // namespace pagoda::container
