#include "app/speculation_options.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::app {

namespace {

using Json = nlohmann::ordered_json;

struct NumberKey {
  std::string_view name;
  std::optional<int> SpeculationOptions::*field;
  int min, max;
};
// 64 guesses: more rows for one sequence are never checked faster than they are found wrong.
constexpr std::array kNumbers{
    NumberKey{"num_speculative_tokens", &SpeculationOptions::tokens, 1, 64},
    NumberKey{"prompt_lookup_min", &SpeculationOptions::shortest, 1, 64},
    NumberKey{"prompt_lookup_max", &SpeculationOptions::longest, 1, 64},
    NumberKey{"disable_by_batch_size", &SpeculationOptions::most_running, 0, 1 << 20},
};

Unexpected invalid(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

using Method = SpeculationOptions::Method;

Status set_method(const std::string& name, SpeculationOptions& options) {
  if (name != "ngram" && name != "draft_model") {
    return fail(ErrorCode::kUnsupported,
                format("speculation by '{}' is not in this version yet; ngram and draft_model are", name));
  }
  options.method = name == "ngram" ? Method::kNgram : Method::kModel;
  return {};
}

// Without a method, a model's name says which it is.
Status set_model(const std::string& name, SpeculationOptions& options) {
  if (name.empty()) return invalid("the model's name is empty");
  if (name == "ngram" || name == "[ngram]") return set_method("ngram", options);
  options.model = name;
  if (options.method == Method::kNone) options.method = Method::kModel;
  return {};
}

Status set_key(std::string_view key, const Json& value, SpeculationOptions& options) {
  if (key == "method" || key == "model") {
    if (!value.is_string()) return invalid(format("\"{}\" takes a name, got {}", key, value.dump()));
    const auto name = value.get<std::string>();
    return key == "method" ? set_method(name, options) : set_model(name, options);
  }
  for (const NumberKey& number : kNumbers) {
    if (key != number.name) continue;
    const bool whole = value.is_number_integer();
    const auto given = whole ? value.get<int64_t>() : 0;
    if (!whole || given < number.min || given > number.max) {
      return invalid(format("\"{}\" takes a whole number from {} to {}, got {}", key, number.min, number.max,
                            value.dump()));
    }
    options.*number.field = static_cast<int>(given);
    return {};
  }
  return invalid(
      format("unknown key \"{}\": known are method, model, num_speculative_tokens, prompt_lookup_min, "
             "prompt_lookup_max, disable_by_batch_size",
             key));
}

}  // namespace

Setter to_speculation(SpeculationOptions* field) {
  return [field](std::span<const std::string> values) -> Status {
    for (const std::string& value : values) {
      const Json given = Json::parse(value, nullptr, false);
      if (!given.is_object()) return invalid(format("'{}' is not a JSON object", value));
      for (const auto& [key, item] : given.items()) PAGODA_TRY(set_key(key, item, *field));
      if (field->method == Method::kNone)
        return invalid("\"method\" is missing: ngram, or draft_model with a \"model\"");
    }
    return {};
  };
}

Status check_speculation(const SpeculationOptions& options) {
  const bool any = options.tokens || options.shortest || options.longest || options.most_running;
  if (any && options.method == Method::kNone) {
    return invalid(
        "--num-speculative-tokens and its like say how to guess, but not by what: add "
        "--speculative-model '[ngram]'");
  }
  if (options.method == Method::kModel && options.model.empty()) {
    return invalid("speculation by draft_model needs a \"model\"");
  }
  if (options.method == Method::kNgram && !options.model.empty()) {
    return invalid(format("speculation by ngram takes no model, and '{}' is given", options.model));
  }
  if (options.longest && options.shortest.value_or(1) > *options.longest) {
    return invalid(format("prompt_lookup_min {} is more than prompt_lookup_max {}", *options.shortest,
                          *options.longest));
  }
  return {};
}

engine::NgramLengths ngram_lengths(const SpeculationOptions& options) {
  engine::NgramLengths lengths;
  if (options.longest) lengths = {std::min(lengths.shortest, *options.longest), *options.longest};
  if (options.shortest) lengths = {*options.shortest, std::max(lengths.longest, *options.shortest)};
  return lengths;
}

Setter to_speculative_model(SpeculationOptions* field) {
  return [field](std::span<const std::string> values) -> Status {
    for (const std::string& value : values) PAGODA_TRY(set_model(value, *field));
    return {};
  };
}

}  // namespace pagoda::app
