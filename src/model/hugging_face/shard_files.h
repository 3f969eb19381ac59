// Which *.safetensors files a Hugging Face folder's weights are in.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/result.h"

namespace pagoda::model {

// Names inside the folder, by model.safetensors.index.json where there is one; empty when there are none.
// kCorruptData: the index names what is no file of the folder.
Result<std::set<std::string>> shard_names(const std::string& folder);

// What they hold together, headers included. kNotFound names a shard that is missing; 0: no weights here.
Result<int64_t> stored_weight_bytes(const std::string& folder);

}  // namespace pagoda::model
