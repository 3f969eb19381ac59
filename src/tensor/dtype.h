// Element and block types of tensors, as files store them. Formats: ggml's block layouts (GGUF) and IEEE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pagoda {

enum class DType : uint8_t {
  kF32,
  kF16,
  kBF16,
  kI8,
  kI16,
  kI32,
  kI64,
  kF64,
  kU8,
  kF8E4M3,  // one sign, four exponent, three mantissa bits; no infinities (OCP's E4M3)
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kIQ1_S,
  kIQ1_M,
  kIQ2_XXS,
  kIQ2_XS,
  kIQ2_S,
  kIQ3_XXS,
  kIQ3_S,
  kIQ4_XS,
  kTQ1_0,
  kTQ2_0,
  kMXFP4,
  kNVFP4,
  // Codes whose scales are a tensor of their own: grouped_weight.h.
  kInt4,
  kInt8,
  kNF4,
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // as people write it: "Q4_1"
  int block_elements;     // elements that share one block; 1 for plain types
  int block_bytes;
};

const DTypeInfo& info_of(DType dtype);

inline bool is_quantised(DType dtype) {
  return dtype >= DType::kQ4_0;
}

// Bytes of `elements` consecutive elements; elements must be a multiple of the block.
inline size_t bytes_of(DType dtype, size_t elements) {
  const DTypeInfo& info = info_of(dtype);
  return elements / static_cast<size_t>(info.block_elements) * static_cast<size_t>(info.block_bytes);
}

// IEEE half and bfloat16 as bits. Rounding is to nearest even; NaN stays NaN.
float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);
float bf16_to_f32(uint16_t bits);
// E4M3 as bits: values up to 448; what is larger becomes 448.
float f8e4m3_to_f32(uint8_t bits);
uint8_t f32_to_f8e4m3(float value);
uint16_t f32_to_bf16(float value);

}  // namespace pagoda
