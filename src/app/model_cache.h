// Models on this machine: the cache folder that quickstart fills, and what a MODEL argument means.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::app {

// $XDG_CACHE_HOME/pagoda/models, else ~/.cache/pagoda/models.
std::filesystem::path model_cache_folder();

struct CachedModel {
  std::string name;            // what `pagoda serve` takes: the file's name without .gguf, or the folder's
  std::filesystem::path path;  // the .gguf file
  int64_t bytes = 0;
};

// Every .gguf file in the folder and one level below, by name. A folder with exactly one .gguf file lends its
// name.
std::vector<CachedModel> list_models(const std::filesystem::path& folder);

// Brings a hub's model "ORG/NAME" here; its folder.
using FromHub = std::function<Result<std::filesystem::path>(const std::string& hub_name)>;

// A path to a .gguf file, a folder with exactly one .gguf file in it, a name in the cache (case and the
// suffix .gguf do not matter), or a hub's name. The file's or folder's path, or why it is none and what there
// is instead.
Result<std::filesystem::path> resolve_model(const std::string& argument, const std::filesystem::path& folder,
                                            const FromHub& from_hub);

}  // namespace pagoda::app
