// What a container asks for: the variables and annotations of NVIDIA's documentation, read from its
// config.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "container/cdi_spec.h"
#include "container/driver_files.h"

namespace pagoda::container {

struct GpuRequest {
  bool wanted = false;  // false: the container is left as it is
  std::vector<std::string>
      devices;  // of nvidia.com/gpu: "all", "0", "GPU-…", "0:1"; empty: driver files only
  std::vector<std::string> others;  // full CDI names of other kinds: "vendor.com/nic=0"
  Capabilities capabilities;
};

struct RequestRules {
  bool variable_when_unprivileged = true;  // accept-nvidia-visible-devices-envvar-when-unprivileged
  bool volume_mounts = false;              // accept-nvidia-visible-devices-as-volume-mounts
};

// NVIDIA_VISIBLE_DEVICES: unset, empty and void ask for nothing, none for the driver's files only.
// Annotations cdi.k8s.io/* go before the variable. kInvalidArgument: a word that is no device name.
Result<GpuRequest> read_gpu_request(const nlohmann::ordered_json& config, const RequestRules& rules);

// NVIDIA_REQUIRE_*: spaces are "or", commas "and" ("cuda>=12.4 brand=tesla,driver>=535").
struct DriverOffer {
  std::string driver;        // "580.95.05"
  std::string cuda;          // the newest that it runs: "13.0"
  std::string architecture;  // compute capability of the GPU: "9.0"; empty: unknown
  std::string brand;         // "tesla", "geforce"; empty: unknown
};
// ok, or kUnsupported: "unsatisfied condition: cuda>=13.3; …".
Status check_requirements(const nlohmann::ordered_json& config, const DriverOffer& offer);

}  // namespace pagoda::container
