// CDI specs of the machine's GPUs: what nvidia-ctk cdi generate writes.
#pragma once

#include <string>
#include <vector>

#include "container/cdi_spec.h"
#include "container/driver_files.h"
#include "container/gpu_devices.h"

namespace pagoda::container {

enum class DeviceNames { kIndex, kUuid, kTypeIndex };

struct CdiGeneration {
  std::string vendor = "nvidia.com", device_class = "gpu";
  std::vector<DeviceNames> names = {DeviceNames::kIndex, DeviceNames::kUuid};
  std::vector<std::string> only;  // indices or UUIDs; empty: every device
  bool all_device = true;         // the device "all"
  Capabilities capabilities = all_capabilities();
  std::string driver_root = "/";  // where the driver's files lie, as the container runtime sees it
  std::string dev_root;           // where /dev lies; empty: the driver's root
  std::string hook_path = "/usr/bin/pagoda-container-hook";
  std::string ldconfig_path = "/sbin/ldconfig";
  std::vector<std::string> disabled_hooks;  // "update-ldcache", "create-symlinks", "all"
};

// `root`: the driver's root; `dev`: the root whose /dev is looked at. Sorted and stable.
// kNotFound: no driver, no GPU, or a device of `only` that is not there (those that are, are named).
Result<CdiSpec> generate_cdi_spec(const driver::HostRoot& root, const driver::HostRoot& dev,
                                  const std::vector<GpuDevice>& gpus, const CdiGeneration& generation);

}  // namespace pagoda::container
