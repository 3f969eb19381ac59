// A cell in JSON: numbers as numbers, with the unit in the key; what is absent as null, with the reason
// beside it.
#pragma once

#include <nlohmann/json.hpp>

#include "smi/cell.h"

namespace pagoda::smi {

// Sets object[key_unit] and, where there is no value, object[key_absent].
void put_cell(nlohmann::ordered_json& object, std::string_view key, const Cell& cell);

// "MiB" → "mib", "%" → "percent", "W/s" → "w_per_s".
std::string unit_in_key(std::string_view unit);

}  // namespace pagoda::smi
