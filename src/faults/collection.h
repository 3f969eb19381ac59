// What --collect puts into a bundle: what doctor reads itself, what the driver's own tools say, and the logs
// that the caller names; all without secrets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::faults {

struct CollectionSummary {
  int files = 0;
  int64_t removed = 0;  // secrets
  std::vector<std::string> gaps;
};

// `report` is put into it as report.json. `logs`: paths as for --from. Environment variables are not
// collected.
Result<CollectionSummary> collect_bundle(const std::string& path, const std::filesystem::path& root,
                                         const std::vector<std::string>& logs, const std::string& report);

}  // namespace pagoda::faults
