// What --collect puts into a bundle: what doctor reads itself, what the driver's own tools say, and the logs
// that the caller names; all without secrets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/host_root.h"

namespace pagoda::faults {

struct CollectionSummary {
  int files = 0;
  int64_t removed = 0;  // secrets
  std::vector<std::string> gaps;
};

struct CollectionRequest {
  std::string path;               // of the bundle; must not exist
  std::vector<std::string> logs;  // paths as for --from
  std::string report;             // put into it as report.json
  // The words that run `pagoda`: its smi tells of the GPUs where there is no nvidia-smi, or `only_own_smi`.
  std::vector<std::string> own_program;
  bool only_own_smi = false;
  bool live = true;  // run the tools; false: the root is not this machine
};

// Environment variables are not collected.
Result<CollectionSummary> collect_bundle(const CollectionRequest& request, const driver::HostRoot& root);

}  // namespace pagoda::faults
