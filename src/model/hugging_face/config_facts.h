// config.json as facts for planning: any model_type whose keys are the usual ones, with the defaults of the
// `transformers` package where its files leave keys out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "model/model_facts.h"

namespace pagoda::model {

// kCorruptData: a key is missing or contradicts another. The name is left empty.
Result<ModelFacts> facts_of_config_json(const nlohmann::json& config);

// The same of a file; `path` stands before the error.
Result<ModelFacts> facts_of_config_file(const std::string& path);

}  // namespace pagoda::model
