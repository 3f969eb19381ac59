// Models that can be planned for by name alone: the sizes in their published config.json, as facts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model_facts.h"

namespace pagoda::model {

// "Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b", "Llama-3.1-8B-Instruct-AWQ": the organisation and words for a
// tuning do not matter, those for a format choose it. kNotFound: none of the table, whatever its spelling.
Result<ModelFacts> facts_of_known_model(std::string_view name);

// In the table's order.
std::vector<std::string_view> known_model_names();

// The name as the table is searched: lower case, without organisation, tuning and format.
std::string plain_model_name(std::string_view name);

}  // namespace pagoda::model
