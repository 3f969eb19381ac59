// config.json in GGUF's words: "num_hidden_layers" of a Qwen2 model is "qwen2.block_count".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/hugging_face/text_store.h"
#include "model/weight_metadata.h"

namespace pagoda::model {

// What the file says that is no key of the metadata.
struct HuggingFaceConfig {
  std::string architecture;         // GGUF's name: "llama", "qwen2", …
  bool norms_store_offset = false;  // a norm's weight is 1 + what is stored (Gemma)
  // Per pair of rotary dimensions; empty: none (Llama 3's scaling).
  std::vector<float> rope_divisors;
};

// kUnsupported, naming the key: an architecture, or arithmetic, that is not there. kCorruptData: a missing
// key.
Result<HuggingFaceConfig> read_config_json(const nlohmann::json& config, TextStore& texts,
                                           WeightMetadata& metadata);

}  // namespace pagoda::model
