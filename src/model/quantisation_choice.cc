#include "model/quantisation_choice.h"

#include <algorithm>

#include "base/format.h"

namespace pagoda::model {
namespace {

struct Method {
  std::string_view name;
  std::string_view checkpoint;  // the checkpoint's own method that it stands for
  QuantiseTo at_load;           // what 16-bit weights become
};
constexpr Method kMethods[] = {
    {"int8", "", QuantiseTo::kInt8},
    {"int4", "", QuantiseTo::kInt4},
    {"fp8", "fp8", QuantiseTo::kF8},
    {"awq", "awq", QuantiseTo::kNothing},
    {"awq_marlin", "awq", QuantiseTo::kNothing},
    {"gptq", "gptq", QuantiseTo::kNothing},
    {"gptq_marlin", "gptq", QuantiseTo::kNothing},
    {"compressed-tensors", "compressed-tensors", QuantiseTo::kNothing},
    {"bitsandbytes", "bitsandbytes", QuantiseTo::kNothing},
    {"gguf", "gguf", QuantiseTo::kNothing},
};

Unexpected refuse(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message), "quantization");
}

}  // namespace

std::string quantised_by(const WeightSource& source) {
  if (const auto method = source.metadata().text("quantization.method")) return std::string(*method);
  const TensorView* query = source.find("blk.0.attn_q.weight");
  return query != nullptr && is_quantised(query->dtype) ? "gguf" : "";
}

std::string known_quantisations() {
  std::string list;
  for (const Method& method : kMethods) list += format("{}{}", list.empty() ? "" : ", ", method.name);
  return list;
}

Result<QuantiseTo> choose_quantisation(const WeightSource& source, std::string_view name) {
  if (name.empty()) return QuantiseTo::kNothing;
  const auto* method =
      std::find_if(std::begin(kMethods), std::end(kMethods), [&](const Method& m) { return m.name == name; });
  if (method == std::end(kMethods))
    return refuse(format("--quantization {}: no such method; there are {}", name, known_quantisations()));
  const std::string there = quantised_by(source);
  if (there.empty() && method->at_load != QuantiseTo::kNothing) return method->at_load;
  if (there.empty())
    return refuse(
        format("--quantization {}: the weights of {} are not quantised; int8, int4 and fp8 quantise "
               "them while they load",
               name, source.path()));
  if (there != method->checkpoint)
    return refuse(
        format("--quantization {}: the weights of {} are quantised by {} already; leave the flag out", name,
               source.path(), there));
  return QuantiseTo::kNothing;
}

}  // namespace pagoda::model
