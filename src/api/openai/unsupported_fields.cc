#include "api/openai/unsupported_fields.h"

#include <array>
#include <limits>

#include "base/format.h"

namespace pagoda::api {
namespace {

// Which value of the field still means "off".
enum class Off { kNull, kNullOrFalse, kNullOrZero, kNullOrOne, kNullOrEmpty };

struct UnsupportedField {
  std::string_view name;
  Off off;
};

constexpr std::array kUnsupported{
    UnsupportedField{"structured_outputs", Off::kNull},
    UnsupportedField{"guided_json", Off::kNull},
    UnsupportedField{"guided_regex", Off::kNull},
    UnsupportedField{"guided_choice", Off::kNull},
    UnsupportedField{"guided_grammar", Off::kNull},
    UnsupportedField{"guided_json_object", Off::kNullOrFalse},
    UnsupportedField{"structural_tag", Off::kNull},
    UnsupportedField{"use_beam_search", Off::kNullOrFalse},
    UnsupportedField{"prompt_embeds", Off::kNull},
    UnsupportedField{"logprob_token_ids", Off::kNull},
    UnsupportedField{"thinking_token_budget", Off::kNull},
    UnsupportedField{"repetition_detection", Off::kNull},
    UnsupportedField{"kv_transfer_params", Off::kNull},
    UnsupportedField{"ec_transfer_params", Off::kNull},
    UnsupportedField{"mm_processor_kwargs", Off::kNullOrEmpty},
    UnsupportedField{"vllm_xargs", Off::kNullOrEmpty},
    UnsupportedField{"watermarking", Off::kNullOrFalse},
    UnsupportedField{"return_prompt_text", Off::kNullOrFalse},
    UnsupportedField{"routed_experts_prompt_start", Off::kNullOrZero},
    UnsupportedField{"stream_interval", Off::kNullOrOne},
};

bool is_off(const Json& value, Off off) {
  switch (off) {
    case Off::kNull:
      return false;
    case Off::kNullOrFalse:
      return value.is_boolean() && !value.get<bool>();
    case Off::kNullOrZero:
      return integer_of(value) == 0;
    case Off::kNullOrOne:
      return integer_of(value) == 1;
    case Off::kNullOrEmpty:
      return value.is_object() && value.empty();
  }
  return false;
}

void refuse_response_format(FieldReader& fields) {
  const Json* format_field = fields.find("response_format");
  if (!format_field) return;
  const auto type = format_field->is_object() ? format_field->find("type") : format_field->end();
  if (!format_field->is_object() || type == format_field->end() || !type->is_string()) {
    fields.fault("response_format", R"(response_format must be an object with a "type")");
    return;
  }
  const std::string name = type->get<std::string>();
  if (name == "text") return;
  if (name == "json_object" || name == "json_schema" || name == "structural_tag") {
    fields.fault(
        "response_format",
        format("response_format of type \"{}\" is not supported in this build yet; only \"text\" is", name),
        ErrorCode::kUnsupported);
    return;
  }
  fields.fault("response_format",
               format("response_format.type must be \"text\", \"json_object\" or \"json_schema\", got \"{}\"",
                      name.substr(0, 40)));
}

}  // namespace

void refuse_unsupported_fields(FieldReader& fields) {
  for (const UnsupportedField& field : kUnsupported) {
    const Json* value = fields.find(field.name);
    if (value && !is_off(*value, field.off)) {
      fields.fault(field.name, format("{} is not supported in this build yet", field.name),
                   ErrorCode::kUnsupported);
    }
  }
  refuse_response_format(fields);
}

}  // namespace pagoda::api
