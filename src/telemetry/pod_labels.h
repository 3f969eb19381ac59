// Which pod has which GPU: what the exporter asks of whoever speaks to the kubelet.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::telemetry {

struct PodDevice {
  // As the device plugin named it to the kubelet: "GPU-<uuid>", "MIG-<uuid>", a name such as "nvidia0", or
  // any of these with "::N" behind it where one device is shared by several.
  std::string device_id;
  std::string pod, name_space, container;
};

class PodDevices {
 public:
  virtual ~PodDevices() = default;
  // Of the containers that have devices now. Called once per collection, on the collector's thread; it must
  // not take longer than a second. An error is shown in the log and the series go without pods.
  virtual Result<std::vector<PodDevice>> list() = 0;
};

}  // namespace pagoda::telemetry
