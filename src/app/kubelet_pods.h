// The exporter's question which pod has which GPU, answered by the kubelet's pod-resources API.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "telemetry/pod_labels.h"

namespace pagoda::app {

// `socket`: the kubelet's. `resources`: names beside nvidia.com/gpu and nvidia.com/mig-* whose devices are
// GPUs. kNotFound: this installation has no pagoda-grpc. A kubelet that does not answer is no error here: it
// may start later.
Result<std::shared_ptr<telemetry::PodDevices>> open_kubelet_pods(std::string socket,
                                                                 std::vector<std::string> resources);

}  // namespace pagoda::app
