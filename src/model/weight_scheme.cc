#include "model/weight_scheme.h"

#include <array>

namespace pagoda::model {
namespace {

// A group of 128 four-bit codes shares a 16-bit scale and a 4-bit zero point.
constexpr double kGroupOf128 = 4 + (16 + 4) / 128.0;

constexpr std::array kSchemes = {
    WeightScheme{"bf16", 16, 16, 16, "16-bit weights"},
    WeightScheme{"fp16", 16, 16, 16, "16-bit weights"},
    WeightScheme{"fp32", 32, 32, 32, "32-bit weights"},
    WeightScheme{"fp8", 8, 16, 8, "FP8, embedding in 16 bits"},
    WeightScheme{"awq", kGroupOf128, 16, kGroupOf128, "AWQ 4-bit in groups of 128, embedding in 16 bits"},
    WeightScheme{"gptq", kGroupOf128, 16, kGroupOf128, "GPTQ 4-bit in groups of 128, embedding in 16 bits"},
    WeightScheme{"gptq-8bit", 8 + (16 + 8) / 128.0, 16, 8 + (16 + 8) / 128.0,
                 "GPTQ 8-bit in groups of 128, embedding in 16 bits"},
    WeightScheme{"compressed-tensors-w4a16", 4 + 16 / 128.0, 16, 4 + 16 / 128.0,
                 "4-bit in groups of 128, embedding in 16 bits"},
    WeightScheme{"compressed-tensors-w8a8", 8, 16, 8, "8-bit per channel, embedding in 16 bits"},
    WeightScheme{"bitsandbytes", 4.5, 16, 4.5, "nf4 in blocks of 64, embedding in 16 bits"},
    WeightScheme{"bitsandbytes-int8", 8, 16, 8, "int8 per channel, embedding in 16 bits"},
    WeightScheme{"mxfp4", 4.25, 16, 16, "experts in MXFP4, the rest in 16 bits"},
    // Made at load, in the blocks of GGUF's Q8_0 and Q4_0; embedding and output layer in 8 bits.
    WeightScheme{"int8", 8.5, 8.5, 8.5, "8-bit made at load, blocks of 32"},
    WeightScheme{"int4", 4.5, 8.5, 4.5, "4-bit made at load, blocks of 32"},
};

}  // namespace

std::span<const WeightScheme> weight_schemes() {
  return kSchemes;
}

const WeightScheme* find_weight_scheme(std::string_view name) {
  for (const WeightScheme& scheme : kSchemes) {
    if (scheme.name == name) return &scheme;
  }
  return nullptr;
}

}  // namespace pagoda::model
