#include "telemetry/field_value.h"

#include <limits>

#include "base/format.h"

namespace pagoda::telemetry {

std::string to_text(const FieldValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return format("{:.3f}", *real);
  return std::get<std::string>(value);
}

double to_number(const FieldValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace pagoda::telemetry
