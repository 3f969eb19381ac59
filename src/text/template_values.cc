#include "text/template_values.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "text/python_text.h"

namespace pagoda::text {
namespace {

constexpr int kDeepest = 300;

// The engine would write six digits.
struct Float final : jinja::value_float_t {
  using jinja::value_float_t::value_float_t;
  jinja::string as_string() const override { return jinja::string(python_float(val_flt)); }
};

jinja::value number(const nlohmann::ordered_json& json) {
  constexpr auto kHighest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (json.is_number_float()) return std::make_shared<Float>(json.get<double>());
  if (json.is_number_unsigned() && json.get<uint64_t>() > kHighest)
    return std::make_shared<Float>(json.get<double>());
  return jinja::mk_val<jinja::value_int>(json.get<int64_t>());
}

// nullptr where it is too deep.
jinja::value convert(const nlohmann::ordered_json& json, int depth) {
  if (depth > kDeepest) return nullptr;
  if (json.is_string()) return jinja::mk_val<jinja::value_string>(json.get_ref<const std::string&>());
  if (json.is_boolean()) return jinja::mk_val<jinja::value_bool>(json.get<bool>());
  if (json.is_number()) return number(json);
  if (json.is_array()) {
    auto array = jinja::mk_val<jinja::value_array>();
    for (const auto& item : json) {
      jinja::value value = convert(item, depth + 1);
      if (!value) return nullptr;
      array->push_back(std::move(value));
    }
    return array;
  }
  if (json.is_object()) {
    auto object = jinja::mk_val<jinja::value_object>();
    for (const auto& [key, item] : json.items()) {
      jinja::value value = convert(item, depth + 1);
      if (!value) return nullptr;
      object->insert(key, value);
    }
    return object;
  }
  return jinja::mk_val<jinja::value_none>();
}

}  // namespace

Result<jinja::value> template_value(const nlohmann::ordered_json& json) {
  jinja::value value = convert(json, 0);
  if (!value) return fail(ErrorCode::kInvalidArgument, "messages and tools may be nested at most 300 deep");
  return value;
}

}  // namespace pagoda::text
