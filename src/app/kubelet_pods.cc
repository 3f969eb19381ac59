#include "app/kubelet_pods.h"

#include <algorithm>

#include "kubelet/grpc_program.h"
#include "kubelet/pod_resources.h"

namespace pagoda::app {
namespace {

constexpr std::chrono::milliseconds kDeadline(1000);

class KubeletPods : public telemetry::PodDevices {
 public:
  KubeletPods(std::string program, std::string socket, std::vector<std::string> resources)
      : program_(std::move(program)), socket_(std::move(socket)), resources_(std::move(resources)) {}

  Result<std::vector<telemetry::PodDevice>> list() override {
    PAGODA_ASSIGN(const auto devices, kubelet::list_pod_devices_by(program_, socket_, kDeadline));
    std::vector<telemetry::PodDevice> gpus;
    for (const kubelet::PodDevice& device : devices) {
      if (is_gpu(device.resource))
        gpus.push_back({device.device_id, device.pod, device.pod_namespace, device.container});
    }
    return gpus;
  }

 private:
  bool is_gpu(const std::string& resource) const {
    // "nvidia.com/gpu.shared" is a GPU that a device plugin gives out several times.
    return resource.starts_with("nvidia.com/gpu") || resource.starts_with("nvidia.com/mig-") ||
           std::find(resources_.begin(), resources_.end(), resource) != resources_.end();
  }

  const std::string program_, socket_;
  const std::vector<std::string> resources_;
};

}  // namespace

Result<std::shared_ptr<telemetry::PodDevices>> open_kubelet_pods(std::string socket,
                                                                 std::vector<std::string> resources) {
  PAGODA_ASSIGN(std::string program, kubelet::find_grpc_program());
  return std::make_shared<KubeletPods>(std::move(program), std::move(socket), std::move(resources));
}

}  // namespace pagoda::app
