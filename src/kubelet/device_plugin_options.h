// What `pagoda device-plugin` was asked for, and its form on the way to pagoda-grpc, which does the work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::kubelet {

inline constexpr const char* kDevicePluginFolder = "/var/lib/kubelet/device-plugins";
inline constexpr int kReplicasMax = 64;  // ids have at most 63 characters

// How MIG devices are offered. GPUs in MIG mode are never offered whole.
enum class MigStrategy {
  kNone,    // not at all
  kSingle,  // as nvidia.com/gpu; all of the node must be of one profile
  kMixed,   // each profile as a resource of its own: nvidia.com/mig-1g.10gb
};

// How a container is told its devices.
enum class DeviceList {
  kCdi,             // CDI names in the kubelet's own field (Kubernetes 1.28 on)
  kCdiAnnotations,  // CDI names in an annotation cdi.k8s.io/…, for older ones
  kEnvironment,     // NVIDIA_VISIBLE_DEVICES, for a container runtime that reads it
};

struct DevicePluginOptions {
  std::string folder = kDevicePluginFolder;  // kubelet.sock is there, and our sockets will be
  MigStrategy mig_strategy = MigStrategy::kMixed;
  int replicas = 1;               // containers that share one device, 1 … kReplicasMax
  bool one_replica_each = false;  // a container that wants more than one of a shared device is refused
  std::vector<DeviceList> device_lists = {DeviceList::kCdi};
  bool watch_health = true;
  std::vector<int> ignored_xids;  // beside those that are an application's own
  std::string driver_root = "/";
  std::vector<std::string> spec_folders = {"/etc/cdi", "/var/run/cdi"};
  bool operator==(const DevicePluginOptions&) const = default;
};

std::string options_text(const DevicePluginOptions& options);
// kInvalidArgument: not the text that options_text() makes.
Result<DevicePluginOptions> parse_options_text(std::string_view text);

}  // namespace pagoda::kubelet
