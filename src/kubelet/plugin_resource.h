// The node's GPUs and MIG devices as Kubernetes counts them: resources with devices, each of which one
// container gets, or, shared by replicas, a turn on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "container/gpu_devices.h"
#include "driver/host_root.h"
#include "kubelet/device_plugin_options.h"

namespace pagoda::kubelet {

inline constexpr const char* kVendor = "nvidia.com";

struct PluginDevice {
  std::string id;    // the kubelet's name for it: the UUID, and "::0", "::1" … where it is shared
  std::string uuid;  // "GPU-…" or "MIG-…"; with kVendor/gpu before it, its CDI name
  int gpu = 0;       // index of the GPU that it is or is part of
  std::optional<int> gpu_instance, compute_instance;  // of a MIG device
  std::optional<int> numa_node;
};

struct PluginResource {
  std::string name;  // "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
  std::vector<PluginDevice> devices;

  const PluginDevice* find(std::string_view id) const;
  // Of its socket: "pagoda-gpu.sock".
  std::string socket_name() const;
};

// "nvidia.com/gpu=GPU-…", whatever the resource.
std::string cdi_name(const PluginDevice& device);

// Resources that have devices, sorted by name. `root`: where /sys tells the NUMA nodes. kNotFound: none at
// all, with the reason; kUnsupported: kSingle and several profiles.
Result<std::vector<PluginResource>> plugin_resources(const std::vector<container::GpuDevice>& gpus,
                                                     const driver::HostRoot& root,
                                                     const DevicePluginOptions& options);

}  // namespace pagoda::kubelet
