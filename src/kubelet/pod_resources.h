// Which pod has which device: the kubelet's pod-resources API, v1 (its List call).
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::kubelet {

inline constexpr const char* kPodResourcesSocket = "/var/lib/kubelet/pod-resources/kubelet.sock";

struct PodDevice {
  std::string resource;   // "nvidia.com/gpu"
  std::string device_id;  // as the device plugin named it: "GPU-…", "MIG-…", "GPU-…::3" of a shared one
  std::string pod, pod_namespace, container;
  bool operator==(const PodDevice&) const = default;

  // device_id without "::3".
  std::string_view uuid() const;
};

// Every device of every container of this node, of all resources, in the kubelet's order. Asks through
// pagoda-grpc, a new process for each question, and so may be called from any thread. kNotFound: no
// pagoda-grpc, or no such socket; kUnavailable: the kubelet does not answer within the deadline.
Result<std::vector<PodDevice>> list_pod_devices(const std::string& socket,
                                                std::chrono::milliseconds deadline);

// The same through this program instead of the one that is installed.
Result<std::vector<PodDevice>> list_pod_devices_by(const std::string& grpc_program, const std::string& socket,
                                                   std::chrono::milliseconds deadline);

// A list as pagoda-grpc prints it, and back.
std::string pod_devices_text(const std::vector<PodDevice>& devices);
Result<std::vector<PodDevice>> parse_pod_devices(std::string_view text);

}  // namespace pagoda::kubelet
