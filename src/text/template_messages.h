// Messages as transformers hands them to a template.
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace pagoda::text {

// Members that are null are left out (templates do not expect "content": null), and a message's reasoning
// stands under each name that templates know.
Result<nlohmann::ordered_json> messages_for_template(const nlohmann::ordered_json& messages);

}  // namespace pagoda::text
