#include "kernels/quantise.h"

#include <algorithm>
#include <cmath>

#include "tensor/dtype.h"

namespace pagoda::kernels {
namespace {

constexpr size_t kGroup = 32;
constexpr float kLargestF8 = 448.f;
constexpr float kLeastNormalF16 = 0x1p-14f;

float peak_of(std::span<const float> values) {
  float peak = 0.f;
  for (const float value : values) peak = std::max(peak, std::fabs(value));
  return peak;
}

float least_code(int bits) {
  return bits == 8 ? -127.f : -static_cast<float>(1 << (bits - 1));
}

float most_code(int bits) {
  return bits == 8 ? 127.f : static_cast<float>((1 << (bits - 1)) - 1);
}

}  // namespace

void code_values(std::span<const float> values, float scale, int bits, int8_t* codes) {
  const float inverse = scale != 0.f ? 1.f / scale : 0.f;
  const float least = least_code(bits), most = most_code(bits);
  for (size_t i = 0; i < values.size(); ++i)
    codes[i] = static_cast<int8_t>(std::clamp(std::nearbyint(values[i] * inverse), least, most));
}

// Tries scales around the one that takes the largest magnitude to the least code, and refits each to its
// codes by least squares.
float best_scale(std::span<const float> values, int bits) {
  if (bits == 8) return peak_of(values) / most_code(bits);
  const float least = least_code(bits), most = most_code(bits);
  const float peak = *std::max_element(values.begin(), values.end(),
                                       [](float a, float b) { return std::fabs(a) < std::fabs(b); });
  if (peak == 0.f) return 0.f;
  float best = 0.f, best_gain = 0.f;
  for (int step = -9; step <= 9; ++step) {
    const float inverse = (least + 0.1f * static_cast<float>(step)) / peak;
    float product = 0.f, square = 0.f;
    for (const float value : values) {
      const float code = std::clamp(std::nearbyint(value * inverse), least, most);
      product += code * value;
      square += code * code;
    }
    // With the scale product / square the squared error falls by product² / square.
    if (square > 0.f && product * product > best_gain * square) {
      best_gain = product * product / square;
      best = product / square;
    }
  }
  return best;
}

void quantise_groups(std::span<const float> values, int bits, int8_t* codes, float* scales) {
  for (size_t g = 0; g < values.size() / kGroup; ++g) {
    const auto group = values.subspan(g * kGroup, kGroup);
    const float scale = best_scale(group, bits);
    // The scale as it will be stored; below f16's normal numbers a row's multiplier keeps its bits.
    scales[g] = std::fabs(scale) >= kLeastNormalF16 ? f16_to_f32(f32_to_f16(scale)) : scale;
    code_values(group, scales[g], bits, codes + g * kGroup);
  }
}

float scale_for_f8(std::span<const float> values) {
  const float peak = peak_of(values);
  return peak > 0.f ? peak / kLargestF8 : 1.f;
}

}  // namespace pagoda::kernels
