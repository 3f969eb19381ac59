// What one field of one GPU or MIG instance is, or why there is nothing.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "driver/nvml_reading.h"

namespace pagoda::telemetry {

using FieldValue = std::variant<std::int64_t, double, std::string>;
using FieldReading = driver::Reading<FieldValue>;

// As dcgmi prints it: whole numbers as they are, ratios and watts with three decimals.
std::string to_text(const FieldValue& value);
// The number; of a text: NaN.
double to_number(const FieldValue& value);

}  // namespace pagoda::telemetry
