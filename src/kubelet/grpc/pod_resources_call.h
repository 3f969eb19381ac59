// The List call of the kubelet's pod-resources API.
#pragma once

#include "kubelet/pod_resources.h"

namespace pagoda::kubelet {

// kUnavailable: no answer within the deadline, or the kubelet's refusal.
Result<std::vector<PodDevice>> call_pod_resources(const std::string& socket,
                                                  std::chrono::milliseconds deadline);

}  // namespace pagoda::kubelet
