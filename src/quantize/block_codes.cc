#include "quantize/block_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "kernels/quantise.h"

namespace pagoda::quantize {
namespace {

using kernels::best_scale;
using kernels::code_values;

void put_half(uint8_t* out, float value) {
  const uint16_t bits = f32_to_f16(value);
  std::memcpy(out, &bits, sizeof bits);
}

float as_half(float value) {
  return f16_to_f32(f32_to_f16(value));
}

// d, 32 int8.
void write_q8_0(std::span<const float> x, uint8_t* out) {
  const float scale = as_half(best_scale(x, 8));
  put_half(out, scale);
  code_values(x, scale, 8, reinterpret_cast<int8_t*>(out + 2));
}

// d, 16 bytes of nibbles: element j below, j + 16 above.
void write_q4_0(std::span<const float> x, uint8_t* out) {
  int8_t codes[32];
  const float scale = as_half(best_scale(x, 4));
  put_half(out, scale);
  code_values(x, scale, 4, codes);
  for (int j = 0; j < 16; ++j) out[2 + j] = static_cast<uint8_t>((codes[j] + 8) | (codes[j + 16] + 8) << 4);
}

// d, 4 bytes of fifth bits, 16 bytes of nibbles.
void write_q5_0(std::span<const float> x, uint8_t* out) {
  int8_t codes[32];
  const float scale = as_half(best_scale(x, 5));
  put_half(out, scale);
  code_values(x, scale, 5, codes);
  uint32_t high = 0;
  for (int j = 0; j < 32; ++j) high |= static_cast<uint32_t>((codes[j] + 16) >> 4) << j;
  std::memcpy(out + 2, &high, sizeof high);
  for (int j = 0; j < 16; ++j)
    out[6 + j] = static_cast<uint8_t>(((codes[j] + 16) & 15) | ((codes[j + 16] + 16) & 15) << 4);
}

// 128 bytes of low nibbles, 64 of high pairs of bits, 16 int8 scales, d.
void write_q6_k(std::span<const float> x, uint8_t* out) {
  float scales[16], largest = 0.f;
  for (size_t g = 0; g < 16; ++g) {
    scales[g] = best_scale(x.subspan(16 * g, 16), 6);
    if (std::fabs(scales[g]) > std::fabs(largest)) largest = scales[g];
  }
  const float d = as_half(largest / -128.f);
  int8_t codes[256];
  for (size_t g = 0; g < 16; ++g) {
    const float steps = d != 0.f ? std::clamp(std::nearbyint(scales[g] / d), -128.f, 127.f) : 0.f;
    out[192 + g] = static_cast<uint8_t>(static_cast<int8_t>(steps));
    code_values(x.subspan(16 * g, 16), d * steps, 6, codes + 16 * g);
  }
  std::memset(out, 0, 192);
  for (int i = 0; i < 256; ++i) {
    const int code = codes[i] + 32;
    out[i / 128 * 64 + i % 64] |= static_cast<uint8_t>((code & 15) << (i / 64 % 2 * 4));
    out[128 + i / 128 * 32 + i % 32] |= static_cast<uint8_t>((code >> 4) << (i / 32 % 4 * 2));
  }
  put_half(out + 208, d);
}

// x ≈ scale · code − minimum with codes of 0 to 15 and a minimum that is not negative.
struct Affine {
  float scale = 0.f, minimum = 0.f;
};

void code_affine(std::span<const float> x, const Affine& a, uint8_t* codes) {
  const float inverse = a.scale > 0.f ? 1.f / a.scale : 0.f;
  for (size_t i = 0; i < x.size(); ++i)
    codes[i] = static_cast<uint8_t>(std::clamp(std::nearbyint((x[i] + a.minimum) * inverse), 0.f, 15.f));
}

// The weighted least-squares line through (code, value), its offset not above zero.
Affine fit(std::span<const float> x, const float* weights, const uint8_t* codes) {
  double w = 0, wq = 0, wqq = 0, wx = 0, wqx = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double q = codes[i], weight = weights[i];
    w += weight, wq += weight * q, wqq += weight * q * q, wx += weight * x[i], wqx += weight * q * x[i];
  }
  const double determinant = w * wqq - wq * wq;
  Affine affine;
  if (determinant > 0) {
    affine.scale = static_cast<float>((w * wqx - wq * wx) / determinant);
    affine.minimum = static_cast<float>(-(wqq * wx - wq * wqx) / determinant);
  }
  if (determinant <= 0 || affine.minimum < 0.f) {
    affine.minimum = 0.f;
    affine.scale = wqq > 0 ? static_cast<float>(wqx / wqq) : 0.f;
  }
  affine.scale = std::max(affine.scale, 0.f);
  return affine;
}

double error_of(std::span<const float> x, const float* weights, const uint8_t* codes, const Affine& a) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double delta = a.scale * static_cast<float>(codes[i]) - a.minimum - x[i];
    sum += weights[i] * delta * delta;
  }
  return sum;
}

// Large weights count for more: they are what large activations meet in trained models.
Affine best_affine(std::span<const float> x) {
  float least = 0.f, most = x[0], squares = 0.f;
  for (const float value : x) {
    least = std::min(least, value), most = std::max(most, value);
    squares += value * value;
  }
  if (most <= least) return {0.f, -least};
  const float size = std::sqrt(squares / static_cast<float>(x.size()));
  float weights[32];
  for (size_t i = 0; i < x.size(); ++i) weights[i] = size + std::fabs(x[i]);
  Affine best;
  double best_error = -1;
  uint8_t codes[32];
  for (int step = -10; step <= 10; ++step) {
    Affine affine{(most - least) / (15.f + 0.15f * static_cast<float>(step)), -least};
    for (int round = 0; round < 2; ++round) {
      code_affine(x, affine, codes);
      affine = fit(x, weights, codes);
      const double error = error_of(x, weights, codes, affine);
      if (best_error < 0 || error < best_error) best_error = error, best = affine;
    }
  }
  return best;
}

// The inverse of how Q4_K packs 8 scales and 8 minima of 6 bits into 12 bytes.
void pack_k_scales(const int* scales, const int* minima, uint8_t* out) {
  for (int g = 0; g < 4; ++g) {
    out[g] = static_cast<uint8_t>(scales[g] | (scales[g + 4] >> 4) << 6);
    out[g + 4] = static_cast<uint8_t>(minima[g] | (minima[g + 4] >> 4) << 6);
    out[g + 8] = static_cast<uint8_t>((scales[g + 4] & 15) | (minima[g + 4] & 15) << 4);
  }
}

// d, dmin, 12 bytes of scales and minima, 128 bytes of nibbles.
void write_q4_k(std::span<const float> x, uint8_t* out) {
  Affine groups[8];
  float most_scale = 0.f, most_minimum = 0.f;
  for (size_t g = 0; g < 8; ++g) {
    groups[g] = best_affine(x.subspan(32 * g, 32));
    most_scale = std::max(most_scale, groups[g].scale);
    most_minimum = std::max(most_minimum, groups[g].minimum);
  }
  const float d = as_half(most_scale / 63.f), dmin = as_half(most_minimum / 63.f);
  const auto steps = [](float value, float unit) {
    return unit > 0.f ? static_cast<int>(std::clamp(std::nearbyint(value / unit), 0.f, 63.f)) : 0;
  };
  int scales[8], minima[8];
  uint8_t codes[256];
  for (size_t g = 0; g < 8; ++g) {
    scales[g] = steps(groups[g].scale, d);
    minima[g] = steps(groups[g].minimum, dmin);
    const Affine stored{d * static_cast<float>(scales[g]), dmin * static_cast<float>(minima[g])};
    code_affine(x.subspan(32 * g, 32), stored, codes + 32 * g);
  }
  put_half(out, d);
  put_half(out + 2, dmin);
  pack_k_scales(scales, minima, out + 4);
  for (int i = 0; i < 128; ++i) {
    const uint8_t* pair = codes + i / 32 * 64 + i % 32;
    out[16 + i] = static_cast<uint8_t>(pair[0] | pair[32] << 4);
  }
}

using WriteBlock = void (*)(std::span<const float> x, uint8_t* out);

WriteBlock writer_of(DType dtype) {
  switch (dtype) {
    case DType::kQ4_0:
      return write_q4_0;
    case DType::kQ5_0:
      return write_q5_0;
    case DType::kQ8_0:
      return write_q8_0;
    case DType::kQ4_K:
      return write_q4_k;
    case DType::kQ6_K:
      return write_q6_k;
    default:
      return nullptr;
  }
}

}  // namespace

bool can_write(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 || writer_of(dtype) != nullptr;
}

void write_blocks(DType dtype, std::span<const float> values, std::byte* out) {
  auto* bytes = reinterpret_cast<uint8_t*>(out);
  if (dtype == DType::kF32) {
    std::memcpy(bytes, values.data(), values.size_bytes());
    return;
  }
  if (dtype == DType::kF16 || dtype == DType::kBF16) {
    for (size_t i = 0; i < values.size(); ++i) {
      const uint16_t bits = dtype == DType::kF16 ? f32_to_f16(values[i]) : f32_to_bf16(values[i]);
      std::memcpy(bytes + 2 * i, &bits, sizeof bits);
    }
    return;
  }
  const WriteBlock write = writer_of(dtype);
  PAGODA_CHECK(write != nullptr, "write_blocks knows the dtype");
  const DTypeInfo& info = info_of(dtype);
  const auto block = static_cast<size_t>(info.block_elements);
  for (size_t done = 0; done < values.size(); done += block, bytes += info.block_bytes)
    write(values.subspan(done, block), bytes);
}

}  // namespace pagoda::quantize
