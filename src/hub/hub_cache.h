// The cache that the tools of the Hugging Face family share:
//   CACHE/models--ORG--NAME/blobs/ETAG                       a file's content, by its hash
//                          /snapshots/COMMIT/path/of/file    links into blobs
//                          /refs/REVISION                    the commit that a branch or tag stood at
//   CACHE/.locks/models--ORG--NAME/ETAG.lock                 held (flock) while that blob is written
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::hub {

// "ORG/NAME", as a hub names models.
bool is_hub_name(std::string_view text);

class ModelFolder {
 public:
  ModelFolder(const std::filesystem::path& cache, std::string_view hub_name);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path snapshot(const std::string& commit) const { return path_ / "snapshots" / commit; }
  std::filesystem::path blob(const std::string& etag) const { return path_ / "blobs" / etag; }
  // Without ".lock", which FileLock adds.
  std::filesystem::path lock(const std::string& etag) const { return locks_ / etag; }

  // The snapshot that a branch, tag or commit led to when it was last asked for; empty: none is here.
  std::filesystem::path find(const std::string& revision) const;
  Status write_ref(const std::string& revision, const std::string& commit) const;
  // snapshots/COMMIT/FILE → blobs/ETAG, relative. What stood there before is replaced.
  Status link(const std::string& commit, const std::string& file, const std::string& etag) const;

 private:
  std::filesystem::path path_, locks_;
};

// What a snapshot lacks to be loaded as a model: shards that its index names, or any weights at all. Empty:
// nothing.
std::vector<std::string> missing_parts(const std::filesystem::path& snapshot);

}  // namespace pagoda::hub
