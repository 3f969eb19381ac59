#include "app/sampling_defaults.h"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::app {

namespace {

using Json = nlohmann::ordered_json;

struct NumberRow {
  std::string_view key;       // in generation_config.json
  std::string_view gguf_key;  // empty: none
  float engine::SamplingParams::*number;
  int engine::SamplingParams::*integer;  // where it is a whole number
  double min, max;
};
using P = engine::SamplingParams;
constexpr std::array kRows{
    NumberRow{"temperature", "general.sampling.temp", &P::temperature, nullptr, 0, 100},
    NumberRow{"top_p", "general.sampling.top_p", &P::top_p, nullptr, 1e-6, 1},
    NumberRow{"top_k", "general.sampling.top_k", nullptr, &P::top_k, -1, 1 << 24},
    NumberRow{"min_p", "general.sampling.min_p", &P::min_p, nullptr, 0, 1},
    NumberRow{"repetition_penalty", "general.sampling.penalty_repeat", &P::repetition_penalty, nullptr, 1e-6,
              100},
};
constexpr std::string_view kMaxNewTokens = "max_new_tokens";

Unexpected wrong(std::string_view source, std::string_view key, const std::string& value,
                 const NumberRow& row) {
  return fail(ErrorCode::kInvalidArgument,
              format("{}: {} must be a {}number from {:g} to {:g}, not {}", source, key,
                     row.integer ? "whole " : "", row.min, row.max, value));
}

void note(SamplingDefaults& out, std::string_view key, double value) {
  out.text += format("{}{} {:g}", out.text.empty() ? "" : ", ", key, value);
}

Status set(std::string_view source, const NumberRow& row, double value, SamplingDefaults& out) {
  if (!(value >= row.min && value <= row.max)) return wrong(source, row.key, format("{:g}", value), row);
  if (row.integer != nullptr) {
    out.params.*row.integer = static_cast<int>(value);
  } else {
    out.params.*row.number = static_cast<float>(value);
  }
  note(out, row.key, value);
  return {};
}

// Keys that mean nothing here are passed over: the file has many for other programs.
Status take(std::string_view source, const Json& config, SamplingDefaults& out) {
  for (const NumberRow& row : kRows) {
    const auto found = config.find(row.key);
    if (found == config.end() || found->is_null()) continue;
    if (!found->is_number() || (row.integer != nullptr && !found->is_number_integer()))
      return wrong(source, row.key, found->dump(), row);
    PAGODA_TRY(set(source, row, found->get<double>(), out));
  }
  const auto longest = config.find(kMaxNewTokens);
  if (longest == config.end() || longest->is_null()) return {};
  const bool whole = longest->is_number_integer();
  if (!whole || longest->get<int64_t>() < 1 || longest->get<int64_t>() > (1 << 30)) {
    return fail(
        ErrorCode::kInvalidArgument,
        format("{}: max_new_tokens must be a whole number from 1 on, not {}", source, longest->dump()));
  }
  out.max_new_tokens = longest->get<int>();
  note(out, kMaxNewTokens, *out.max_new_tokens);
  return {};
}

// A folder without the file recommends nothing.
Status take_file(const std::filesystem::path& file, bool must_exist, SamplingDefaults& out) {
  std::ifstream stream(file);
  if (!stream) {
    if (!must_exist) return {};
    return fail(ErrorCode::kNotFound,
                format("{}: no such file; --generation-config takes auto, vllm or a folder "
                       "that has one",
                       file.string()));
  }
  const Json config = Json::parse(stream, nullptr, false);
  if (!config.is_object())
    return fail(ErrorCode::kCorruptData, format("{}: not a JSON object", file.string()));
  return take(file.string(), config, out);
}

Status take_metadata(const model::WeightMetadata& metadata, SamplingDefaults& out) {
  for (const NumberRow& row : kRows) {
    if (const auto value = metadata.number(row.gguf_key)) PAGODA_TRY(set(row.gguf_key, row, *value, out));
  }
  return {};
}

}  // namespace

Result<SamplingDefaults> sampling_defaults(const ServeOptions& options, const std::filesystem::path& model,
                                           const model::WeightMetadata& metadata) {
  constexpr std::string_view kFile = "generation_config.json";
  SamplingDefaults defaults;
  if (options.generation_config == "auto") {
    if (std::filesystem::is_directory(model)) PAGODA_TRY(take_file(model / kFile, false, defaults));
    PAGODA_TRY(take_metadata(metadata, defaults));
  } else if (options.generation_config != "vllm") {
    PAGODA_TRY(take_file(std::filesystem::path(options.generation_config) / kFile, true, defaults));
  }
  PAGODA_TRY(take("--override-generation-config", options.generation_overrides, defaults));
  return defaults;
}

Status check_generation_overrides(const Json& overrides) {
  for (const auto& [key, value] : overrides.items()) {
    bool known = key == kMaxNewTokens;
    std::string names(kMaxNewTokens);
    for (const NumberRow& row : kRows) {
      known = known || key == row.key;
      names += format(", {}", row.key);
    }
    if (!known) {
      return fail(ErrorCode::kInvalidArgument,
                  format("--override-generation-config: unknown key \"{}\"; known are {}", key, names),
                  "override-generation-config");
    }
  }
  SamplingDefaults unused;
  return take("--override-generation-config", overrides, unused);
}

}  // namespace pagoda::app
