#include "api/openai/field_reader.h"

#include <cmath>

#include "base/format.h"

namespace pagoda::api {
namespace {

// A bound that nobody comes near is named only to who passed it.
std::string range_text(IntegerRange range, bool passed_high = false) {
  if (range.high >= std::numeric_limits<int32_t>::max() && !passed_high)
    return format("an integer of at least {}", range.low);
  return format("an integer from {} to {}", range.low, range.high);
}

std::string range_text(NumberRange range) {
  if (std::isinf(range.high)) {
    return range.low_excluded ? format("a number greater than {}", range.low)
                              : format("a number of at least {}", range.low);
  }
  return range.low_excluded ? format("a number greater than {} and at most {}", range.low, range.high)
                            : format("a number from {} to {}", range.low, range.high);
}

}  // namespace

const Json* FieldReader::find(std::string_view name) const {
  const auto it = object_.find(name);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

std::optional<int64_t> FieldReader::integer(std::string_view name, IntegerRange range) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_number()) {
    wrong_type(name, range_text(range), *value);
    return std::nullopt;
  }
  const std::optional<int64_t> number = integer_of(*value);
  if (!number || *number < range.low || *number > range.high) {
    const bool passed_high = number ? *number > range.high : value->get<double>() > 0;
    fault(name,
          format("{}{} must be {}, got {}", path_, name, range_text(range, passed_high), value->dump()));
    return std::nullopt;
  }
  return number;
}

int FieldReader::integer_or(std::string_view name, int fallback, IntegerRange range) {
  return static_cast<int>(integer(name, range).value_or(fallback));
}

std::optional<double> FieldReader::number(std::string_view name, NumberRange range) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_number()) {
    wrong_type(name, range_text(range), *value);
    return std::nullopt;
  }
  const double number = value->get<double>();
  const bool low_enough = number <= range.high && std::isfinite(number);
  if (!low_enough || number < range.low || (range.low_excluded && number == range.low)) {
    fault(name, format("{}{} must be {}, got {}", path_, name, range_text(range), value->dump()));
    return std::nullopt;
  }
  return number;
}

float FieldReader::number_or(std::string_view name, float fallback, NumberRange range) {
  const std::optional<double> value = number(name, range);
  return value ? static_cast<float>(*value) : fallback;
}

bool FieldReader::boolean_or(std::string_view name, bool fallback) {
  const Json* value = find(name);
  if (!value) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  wrong_type(name, "true or false", *value);
  return fallback;
}

std::optional<std::string> FieldReader::string(std::string_view name) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  wrong_type(name, "a string", *value);
  return std::nullopt;
}

std::vector<std::string> FieldReader::strings(std::string_view name, bool one_allowed) {
  const Json* value = find(name);
  if (!value) return {};
  const std::string_view expected = one_allowed ? "a string or an array of strings" : "an array of strings";
  if (one_allowed && value->is_string()) return {value->get<std::string>()};
  std::vector<std::string> list;
  if (!value->is_array()) {
    wrong_type(name, expected, *value);
    return list;
  }
  for (const Json& entry : *value) {
    if (!entry.is_string()) {
      fault(name, format("{}{} must be {}, but it holds {}", path_, name, expected, json_type_name(entry)));
      return {};
    }
    list.push_back(entry.get<std::string>());
  }
  return list;
}

std::vector<int32_t> FieldReader::token_ids(std::string_view name, int vocabulary) {
  const Json* value = find(name);
  if (!value) return {};
  std::vector<int32_t> ids;
  if (!value->is_array()) {
    wrong_type(name, "an array of token ids", *value);
    return ids;
  }
  ids.reserve(value->size());
  for (const Json& entry : *value) {
    Result<int32_t> id = token_id_of(entry, vocabulary, path_ + std::string(name));
    if (!id) {
      keep(Unexpected(std::move(id).error()));
      return {};
    }
    ids.push_back(*id);
  }
  return ids;
}

void FieldReader::fault(std::string_view name, std::string message, ErrorCode code) {
  if (!error_) error_ = Error{code, std::move(message), path_ + std::string(name)};
}

void FieldReader::keep(Status status) {
  if (!status && !error_) error_ = std::move(status).error();
}

Status FieldReader::status() const {
  if (error_) return Unexpected(*error_);
  return {};
}

void FieldReader::wrong_type(std::string_view name, std::string_view expected, const Json& got) {
  fault(name, format("{}{} must be {}, not {}", path_, name, expected, json_type_name(got)));
}

std::optional<int64_t> integer_of(const Json& value) {
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double no longer names one integer
  if (!(std::abs(number) <= kExact) || number != std::floor(number)) return std::nullopt;
  return static_cast<int64_t>(number);
}

Result<int32_t> token_id_of(const Json& value, int vocabulary, std::string_view name) {
  const std::optional<int64_t> id = integer_of(value);
  if (!id) {
    return fail(ErrorCode::kInvalidArgument,
                format("{} must hold token ids, but it holds {}", name, json_type_name(value)),
                std::string(name));
  }
  if (*id < 0 || *id >= vocabulary) {
    return fail(
        ErrorCode::kInvalidArgument,
        format("{} holds token id {}, which is out of vocabulary (0 to {})", name, *id, vocabulary - 1),
        std::string(name));
  }
  return static_cast<int32_t>(*id);
}

}  // namespace pagoda::api
