// The GPUs that containers can be given, whatever they were found by.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/host_root.h"

namespace pagoda::container {

struct MigDevice {
  int index = 0;  // the N of "0:N": NVML's, which may have gaps; from /proc the position
  int gpu_instance = 0, compute_instance = 0;
  // Of /dev/nvidia-caps/nvidia-cap<minor>; nullopt where the kernel module's files do not tell.
  std::optional<int> gpu_capability_minor, compute_capability_minor;
  std::string uuid;     // "MIG-…"; empty where the source does not know it
  std::string profile;  // "1g.10gb"; likewise
};

struct GpuDevice {
  int index = 0;            // by PCI address, as nvidia-smi counts
  int minor = 0;            // of /dev/nvidia<minor>: need not be the index
  std::string uuid;         // "GPU-…"
  std::string pci_address;  // "0000:17:00.0"
  std::string name;
  std::vector<MigDevice> migs;  // by index
  bool mig_mode = false;        // in MIG mode it computes in parts only, also where it is not cut up yet
};

// From /proc/driver/nvidia, which the kernel module keeps; needs no library. WSL has one device for all GPUs
// and is not read here. Sorted by index.
std::vector<GpuDevice> gpus_in_proc(const driver::HostRoot& root);

// Fills in the MIG devices' capability minors from the module's files, where they tell.
void add_capability_minors(const driver::HostRoot& root, GpuDevice& gpu);

}  // namespace pagoda::container
