// JSON → values of the template engine.
#pragma once

#include <jinja/value.h>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace pagoda::text {

// Fails where the JSON is nested more than 300 deep.
Result<jinja::value> template_value(const nlohmann::ordered_json& json);

}  // namespace pagoda::text
