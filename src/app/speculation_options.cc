#include "app/speculation_options.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "engine/ngram_drafter.h"

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

Status set_method(const std::string& name, SpeculationOptions& options) {
  if (name != "ngram" && name != "[ngram]") {
    return fail(ErrorCode::kUnsupported,
                format("speculation by '{}' is not in this version yet; ngram is", name));
  }
  options.method = SpeculationOptions::Method::kNgram;
  return {};
}

Status set_key(std::string_view key, const Json& value, SpeculationOptions& options) {
  if (key == "method" || key == "model") {
    if (!value.is_string()) return invalid(format("\"{}\" takes a name, got {}", key, value.dump()));
    return set_method(value.get<std::string>(), options);
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
      format("unknown key \"{}\": known are method, num_speculative_tokens, prompt_lookup_min, "
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
      if (field->method == SpeculationOptions::Method::kNone)
        return invalid("\"method\" is missing: ngram is one");
    }
    return {};
  };
}

Status check_speculation(const SpeculationOptions& options) {
  const bool any = options.tokens || options.shortest || options.longest || options.most_running;
  if (any && options.method == SpeculationOptions::Method::kNone) {
    return invalid(
        "--num-speculative-tokens and its like say how to guess, but not by what: add "
        "--speculative-model '[ngram]'");
  }
  if (options.longest && options.shortest.value_or(1) > *options.longest) {
    return invalid(format("prompt_lookup_min {} is more than prompt_lookup_max {}", *options.shortest,
                          *options.longest));
  }
  return {};
}

std::unique_ptr<engine::Drafter> make_drafter(const SpeculationOptions& options) {
  if (options.method == SpeculationOptions::Method::kNone) return nullptr;
  engine::NgramLengths lengths;
  if (options.longest) lengths = {std::min(lengths.shortest, *options.longest), *options.longest};
  if (options.shortest) lengths = {*options.shortest, std::max(lengths.longest, *options.shortest)};
  return std::make_unique<engine::NgramDrafter>(lengths);
}

Setter to_speculative_model(SpeculationOptions* field) {
  return [field](std::span<const std::string> values) -> Status {
    for (const std::string& value : values) PAGODA_TRY(set_method(value, *field));
    return {};
  };
}

}  // namespace pagoda::app
