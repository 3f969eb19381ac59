// A model of a hub into the cache: the list of its files, then what is not here yet, several at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "hub/file_download.h"
#include "hub/file_patterns.h"
#include "hub/hub_client.h"
#include "hub/hub_settings.h"

namespace pagoda::hub {

struct PullRequest {
  std::string model;              // "ORG/NAME"
  std::string revision = "main";  // a branch, a tag or a commit
  FilePatterns patterns;
  // Narrows the list further where it is set, e.g. to what a server needs.
  std::function<Result<std::vector<RemoteFile>>(std::vector<RemoteFile>)> choose;
  int parallel = 8;  // files at once
  RetryLimits retries;
};

struct PullProgress {
  int files = 0;           // wanted
  int files_missing = 0;   // of them not here yet
  int64_t bytes = 0;       // wanted
  int64_t bytes_here = 0;  // of them here before
};

// Told once the list is here and before the first byte is fetched; `state` may be read while the pull runs.
using OnBegin = std::function<void(const PullProgress& progress, const DownloadState& state)>;

// The snapshot's folder; kUnavailable at once where settings.offline.
Result<std::filesystem::path> pull(const PullRequest& request, const HubSettings& settings,
                                   const OnBegin& on_begin);

}  // namespace pagoda::hub
