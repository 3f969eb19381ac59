// Models that other tools have fetched from a hub: the cache of the `huggingface_hub` package.
//   HUB/models--ORG--NAME/refs/main holds a revision, HUB/models--ORG--NAME/snapshots/REVISION the files
// HUB is $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else
// ~/.cache/huggingface/hub.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace pagoda::app {

std::filesystem::path hub_cache_folder();

// "ORG/NAME", as a hub names models.
bool is_hub_name(const std::string& text);

// The folder of the model's files. kNotFound says where it was looked for and what to do.
Result<std::filesystem::path> snapshot_of(const std::string& hub_name);

}  // namespace pagoda::app
