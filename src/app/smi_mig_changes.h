// `pagoda smi mig` that changes something: -cgi, -cci, -dgi, -dci, with NVIDIA's sentences and exit statuses.
#pragma once

#include <string>
#include <vector>

#include "driver/nvml.h"

namespace pagoda::app {

struct MigChanges {
  std::string create_gpu_instances;      // -cgi "19,3g.40gb": profiles by id or name
  std::string create_compute_instances;  // -cci "0,1c.3g.40gb"; "default": the whole GPU instance
  bool with_compute_instances = false;   // -C: each new GPU instance gets its default compute instance
  bool destroy_gpu_instances = false, destroy_compute_instances = false;  // -dgi, -dci
  std::string gpu_instances, compute_instances;  // -gi, -ci: which, by comma; empty: all
};

bool any(const MigChanges& changes);

// On each of these GPUs in turn. What is to be printed goes to `out`; the exit status is NVML's return code
// of the first failure.
int change_mig(const MigChanges& changes, const std::vector<driver::Gpu>& gpus, std::string& out);

}  // namespace pagoda::app
