// The two questions of the kubelet: which devices would be best together, and what does a container need
// that gets these.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kubelet/device_health.h"
#include "kubelet/gpu_closeness.h"
#include "kubelet/plugin_resource.h"

namespace pagoda::kubelet {

struct PreferenceRequest {
  std::vector<std::string> available, must_include;  // ids
  int count = 0;
};

// `count` ids with `must_include` among them. Devices that are shared: on as many different GPUs as
// possible, the least used first. Whole ones: the best connected set, and of equal ones that which leaves
// the best connected rest. The same question gets the same answer. kInvalidArgument: unknown ids, too few.
Result<std::vector<std::string>> preferred_devices(const PluginResource& resource,
                                                   const GpuCloseness& closeness,
                                                   const PreferenceRequest& request);

struct ContainerDevices {
  std::map<std::string, std::string> environment, annotations;
  std::vector<std::string> cdi_names;
};

// kInvalidArgument: an id that is not of this resource, or several replicas where one is allowed;
// kUnavailable: an unhealthy device.
Result<ContainerDevices> allocate(const PluginResource& resource, const DeviceHealth& health,
                                  const std::vector<std::string>& ids, const DevicePluginOptions& options);

}  // namespace pagoda::kubelet
