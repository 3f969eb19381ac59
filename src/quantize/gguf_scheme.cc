#include "quantize/gguf_scheme.h"

#include <algorithm>
#include <charconv>

namespace pagoda::quantize {
namespace {

constexpr GgufScheme kSchemes[] = {
    {"q8_0", 7, DType::kQ8_0},
    {"q4_0", 2, DType::kQ4_0},
    {"q4_k", 15, DType::kQ4_K},
};

// The layer's number in "blk.12.attn_v.weight"; -1 outside layers.
int layer_of(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (!name.starts_with(kPrefix)) return -1;
  int layer = -1;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), layer);
  return layer;
}

bool keeps_more_bits(int layer, int layers) {
  const int eighth = layers / 8;
  return layer < eighth || layer >= 7 * eighth || (layer - eighth) % 3 == 2;
}

DType with_whole_blocks(DType dtype, int64_t columns) {
  if (columns % info_of(dtype).block_elements == 0) return dtype;
  const DType narrower = dtype == DType::kQ4_K ? DType::kQ5_0 : DType::kQ8_0;
  return columns % info_of(narrower).block_elements == 0 ? narrower : DType::kF16;
}

}  // namespace

const GgufScheme* find_gguf_scheme(std::string_view name) {
  const auto* found = std::find_if(std::begin(kSchemes), std::end(kSchemes),
                                   [&](const GgufScheme& scheme) { return scheme.name == name; });
  return found == std::end(kSchemes) ? nullptr : found;
}

DType gguf_dtype_of(const GgufScheme& scheme, std::string_view name, const Shape& shape, int layers,
                    bool has_output) {
  if (shape.rank() < 2 || !name.ends_with(".weight") || name.ends_with("norm.weight")) return DType::kF32;
  const bool output = name == "output.weight" || (name == "token_embd.weight" && !has_output);
  DType dtype = scheme.weights;
  if (output && dtype != DType::kQ8_0) dtype = DType::kQ6_K;
  const bool sensitive = name.ends_with("attn_v.weight") || name.ends_with("ffn_down.weight");
  if (dtype == DType::kQ4_K && sensitive && keeps_more_bits(layer_of(name), layers)) dtype = DType::kQ6_K;
  return with_whole_blocks(dtype, shape[shape.rank() - 1]);
}

}  // namespace pagoda::quantize
