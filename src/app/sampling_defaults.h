// What a request that is silent about sampling gets: the model's own recommendation, as vLLM takes it from
// generation_config.json, then what --override-generation-config says.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "app/serve_options.h"
#include "base/result.h"
#include "engine/sampling_params.h"
#include "model/weight_metadata.h"

namespace pagoda::app {

struct SamplingDefaults {
  engine::SamplingParams params;
  std::optional<int> max_new_tokens;  // no answer is longer
  std::string text;  // "temperature 0.7, top_p 0.8", for the log; empty: nothing but the usual
};

// `model`: the file or folder. A folder's generation_config.json, or a GGUF file's keys general.sampling.*
// (https://github.com/ggml-org/llama.cpp, gguf-py/gguf/constants.py). A value out of its range is an error
// that names where it stands.
Result<SamplingDefaults> sampling_defaults(const ServeOptions& options, const std::filesystem::path& model,
                                           const model::WeightMetadata& metadata);

// Refuses what is no object, and keys that there are not.
Status check_generation_overrides(const nlohmann::ordered_json& overrides);

}  // namespace pagoda::app
