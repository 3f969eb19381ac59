// What the loaded kernel module says of itself and of its GPUs: /proc/driver/nvidia.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/host_root.h"
#include "driver/kernel_modules.h"

namespace pagoda::driver {

struct LoadedGpu {
  std::string address;       // "0000:17:00.0"
  std::string model;         // "NVIDIA H100 80GB HBM3"
  std::string uuid;          // "GPU-…"; "GPU-????????-…" until the GPU was first opened
  std::optional<int> minor;  // of /dev/nvidia<minor>
};

struct LoadedDriver {
  VersionNumber version;
  ModuleKind kind = ModuleKind::kUnknown;
  std::vector<LoadedGpu> gpus;  // by address
};

// nullopt: no nvidia module is loaded.
std::optional<LoadedDriver> read_loaded_driver(const HostRoot& root);

}  // namespace pagoda::driver
