#include "tensor/dtype.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace pagoda {
namespace {

constexpr DTypeInfo kInfos[] = {
    {DType::kF32, "F32", 1, 4},
    {DType::kF16, "F16", 1, 2},
    {DType::kBF16, "BF16", 1, 2},
    {DType::kI8, "I8", 1, 1},
    {DType::kI16, "I16", 1, 2},
    {DType::kI32, "I32", 1, 4},
    {DType::kI64, "I64", 1, 8},
    {DType::kF64, "F64", 1, 8},
    {DType::kU8, "U8", 1, 1},
    {DType::kF8E4M3, "F8_E4M3", 1, 1},
    {DType::kQ4_0, "Q4_0", 32, 18},
    {DType::kQ4_1, "Q4_1", 32, 20},
    {DType::kQ5_0, "Q5_0", 32, 22},
    {DType::kQ5_1, "Q5_1", 32, 24},
    {DType::kQ8_0, "Q8_0", 32, 34},
    {DType::kQ2_K, "Q2_K", 256, 84},
    {DType::kQ3_K, "Q3_K", 256, 110},
    {DType::kQ4_K, "Q4_K", 256, 144},
    {DType::kQ5_K, "Q5_K", 256, 176},
    {DType::kQ6_K, "Q6_K", 256, 210},
    {DType::kIQ4_NL, "IQ4_NL", 32, 18},
    {DType::kIQ1_S, "IQ1_S", 256, 50},
    {DType::kIQ1_M, "IQ1_M", 256, 56},
    {DType::kIQ2_XXS, "IQ2_XXS", 256, 66},
    {DType::kIQ2_XS, "IQ2_XS", 256, 74},
    {DType::kIQ2_S, "IQ2_S", 256, 82},
    {DType::kIQ3_XXS, "IQ3_XXS", 256, 98},
    {DType::kIQ3_S, "IQ3_S", 256, 110},
    {DType::kIQ4_XS, "IQ4_XS", 256, 136},
    {DType::kTQ1_0, "TQ1_0", 256, 54},
    {DType::kTQ2_0, "TQ2_0", 256, 66},
    {DType::kMXFP4, "MXFP4", 32, 17},
    {DType::kNVFP4, "NVFP4", 64, 36},
    {DType::kInt4, "INT4", 2, 1},
    {DType::kInt8, "INT8", 1, 1},
    {DType::kNF4, "NF4", 2, 1},
};

}  // namespace

const DTypeInfo& info_of(DType dtype) {
  const DTypeInfo& info = kInfos[static_cast<size_t>(dtype)];
  PAGODA_CHECK(info.dtype == dtype, "the DType table is in the enum's order");
  return info;
}

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: mantissa · 2^-24 is exact in f32
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;   // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // rounds to infinity
  if (magnitude < 0x38800000) {                       // subnormal half: let the FPU round at 2^-24
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;  // 0.5's ulp is 2^-24
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(scaled) - 0x3f000000u);
  }
  const uint32_t odd = (magnitude >> 13) & 1;
  return sign | static_cast<uint16_t>((magnitude - 0x38000000u + 0xfff + odd) >> 13);
}

float bf16_to_f32(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

float f8e4m3_to_f32(uint8_t bits) {
  if ((bits & 0x7f) == 0x7f) return std::numeric_limits<float>::quiet_NaN();
  // As the upper bits of a half its exponent is 8 too small.
  return f16_to_f32(static_cast<uint16_t>((bits & 0x80) << 8 | (bits & 0x7f) << 7)) * 256.f;
}

uint8_t f32_to_f8e4m3(float value) {
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7f;
  if (magnitude >= 448.f) return sign | 0x7e;
  if (magnitude < 0x1p-6f)  // subnormal: multiples of 2^-9
    return sign | static_cast<uint8_t>(std::nearbyint(magnitude * 0x1p9f));
  const uint32_t bits = std::bit_cast<uint32_t>(magnitude);
  const uint32_t rounded = bits + 0x7ffff + ((bits >> 20) & 1);
  return sign | static_cast<uint8_t>((rounded >> 20) - (120 << 3));
}

uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace pagoda
