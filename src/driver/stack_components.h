// What stands on the driver: CUDA toolkits, libraries, container engines, frameworks, monitoring; found by
// files and package databases, with versions. Works in the host and in a container.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/host_root.h"

namespace pagoda::driver {

enum class Floor { kToolkit, kLibrary, kContainerRuntime, kFramework, kMonitoring };

struct StackComponent {
  Floor floor = Floor::kToolkit;
  std::string name;     // "cuDNN", "torch"
  std::string version;  // "9.1.0"
  std::string
      cuda;  // the CUDA that it was built for: "12.4", or a major release "12"; empty: does not matter
  std::string place;  // "/usr/local/cuda-12.4"; of packages: "package libcudnn9"
};

// Sorted by floor, then name, then place.
std::vector<StackComponent> find_stack_components(const HostRoot& root);

// Whether this root is a container's (a file that docker, podman or Kubernetes leaves there).
bool is_container(const HostRoot& root);

}  // namespace pagoda::driver
