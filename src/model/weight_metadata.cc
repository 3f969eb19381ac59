#include "model/weight_metadata.h"

#include <limits>

namespace pagoda::model {
namespace {

using Value = WeightMetadata::Value;

template <class T>
const T* find_as(const std::map<std::string, Value, std::less<>>& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace

std::optional<int64_t> WeightMetadata::integer(std::string_view key) const {
  if (const auto* value = find_as<int64_t>(values_, key)) return *value;
  if (const auto* value = find_as<uint64_t>(values_, key)) {
    if (*value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return static_cast<int64_t>(*value);
  }
  return std::nullopt;
}

std::optional<double> WeightMetadata::number(std::string_view key) const {
  if (const auto* value = find_as<double>(values_, key)) return *value;
  if (const auto* value = find_as<int64_t>(values_, key)) return static_cast<double>(*value);
  if (const auto* value = find_as<uint64_t>(values_, key)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<bool> WeightMetadata::boolean(std::string_view key) const {
  const auto* value = find_as<bool>(values_, key);
  return value ? std::optional<bool>(*value) : std::nullopt;
}

std::optional<std::string_view> WeightMetadata::text(std::string_view key) const {
  const auto* value = find_as<std::string_view>(values_, key);
  return value ? std::optional<std::string_view>(*value) : std::nullopt;
}

const std::vector<std::string_view>* WeightMetadata::texts(std::string_view key) const {
  return find_as<std::vector<std::string_view>>(values_, key);
}

const std::vector<int64_t>* WeightMetadata::integers(std::string_view key) const {
  return find_as<std::vector<int64_t>>(values_, key);
}

const std::vector<double>* WeightMetadata::numbers(std::string_view key) const {
  return find_as<std::vector<double>>(values_, key);
}

const std::vector<bool>* WeightMetadata::booleans(std::string_view key) const {
  return find_as<std::vector<bool>>(values_, key);
}

}  // namespace pagoda::model
