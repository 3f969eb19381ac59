// GGUF's blocks of less than four bits per weight and of small floats: IQ1 to IQ4, TQ, MXFP4, NVFP4. Layouts:
// ggml-common.h and ggml-quants.c of https://github.com/ggml-org/ggml.
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/iq_grids.h"
#include "kernels/unpack_block.h"

namespace pagoda::kernels {
namespace {

constexpr int kIq2Levels[4] = {8, 25, 43, 0};
constexpr int kIq3XxsLevels[8] = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr int kIq3SLevels[8] = {1, 3, 5, 7, 9, 11, 13, 15};
// The numbers of E2M1, doubled.
constexpr int8_t kE2M1Levels[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

template <class T>
T read(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

float half_at(const uint8_t* bytes) {
  return f16_to_f32(read<uint16_t>(bytes));
}

// Seven sign bits stand for eight: an even number of them is set.
int eight_signs(uint32_t seven) {
  return static_cast<int>(seven | static_cast<uint32_t>(std::popcount(seven) & 1) << 7);
}

// `count` magnitudes of a point under the low bits of `signs`.
template <int kBits>
void put_point(uint16_t point, const int* levels, int signs, int count, int8_t* codes) {
  for (int i = 0; i < count; ++i) {
    const int magnitude = levels[(point >> (kBits * i)) & ((1 << kBits) - 1)];
    codes[i] = static_cast<int8_t>((signs >> i) & 1 ? -magnitude : magnitude);
  }
}

// d, then for each 32: four indices of points, then a word of four times seven signs and four bits of scale.
void unpack_iq2_xxs(const uint8_t* block, int8_t* codes, float* scales, float*) {
  const float d = half_at(block);
  for (int g = 0; g < 8; ++g) {
    const uint8_t* indices = block + 2 + 8 * g;
    const auto word = read<uint32_t>(indices + 4);
    scales[g] = d * (0.5f + static_cast<float>(word >> 28)) * 0.25f;
    for (int j = 0; j < 4; ++j)
      put_point<2>(kIq2XxsGrid[indices[j]], kIq2Levels, eight_signs((word >> (7 * j)) & 127), 8,
                   codes + 32 * g + 8 * j);
  }
}

// The four-bit scales of 16 groups of 16.
void unpack_nibble_scales(const uint8_t* packed, float d, float* scales) {
  for (int g = 0; g < 16; ++g)
    scales[g] = d * (0.5f + static_cast<float>((packed[g / 2] >> (g % 2 * 4)) & 15)) * 0.25f;
}

// d, 32 words of nine bits of index and seven signs, 8 bytes of scales.
void unpack_iq2_xs(const uint8_t* block, int8_t* codes, float* scales, float*) {
  unpack_nibble_scales(block + 66, half_at(block), scales);
  for (int i = 0; i < 32; ++i) {
    const auto word = read<uint16_t>(block + 2 + 2 * i);
    put_point<2>(kIq2XsGrid[word & 511], kIq2Levels, eight_signs(word >> 9), 8, codes + 8 * i);
  }
}

// d, 32 bytes of index, 32 of signs, 8 with the indices' high pairs of bits, 8 of scales.
void unpack_iq2_s(const uint8_t* block, int8_t* codes, float* scales, float*) {
  unpack_nibble_scales(block + 74, half_at(block), scales);
  for (int i = 0; i < 32; ++i) {
    const int index = block[2 + i] | ((block[66 + i / 4] >> (i % 4 * 2)) & 3) << 8;
    put_point<2>(kIq2SGrid[index], kIq2Levels, block[34 + i], 8, codes + 8 * i);
  }
}

// d, 64 bytes of index, for each 32 a word of four times seven signs and four bits of scale.
void unpack_iq3_xxs(const uint8_t* block, int8_t* codes, float* scales, float*) {
  const float d = half_at(block);
  for (int g = 0; g < 8; ++g) {
    const auto word = read<uint32_t>(block + 66 + 4 * g);
    scales[g] = d * (0.5f + static_cast<float>(word >> 28)) * 0.5f;
    for (int j = 0; j < 8; ++j) {
      const int signs = eight_signs((word >> (j / 2 * 7)) & 127) >> (j % 2 * 4);
      put_point<3>(kIq3XxsGrid[block[2 + 8 * g + j]], kIq3XxsLevels, signs, 4, codes + 32 * g + 4 * j);
    }
  }
}

// d, 64 bytes of index, 8 with the indices' ninth bits, 32 of signs, 4 of scales.
void unpack_iq3_s(const uint8_t* block, int8_t* codes, float* scales, float*) {
  const float d = half_at(block);
  for (int g = 0; g < 8; ++g)
    scales[g] = d * static_cast<float>(1 + 2 * ((block[106 + g / 2] >> (g % 2 * 4)) & 15));
  for (int i = 0; i < 64; ++i) {
    const int index = block[2 + i] | ((block[66 + i / 8] >> (i % 8)) & 1) << 8;
    put_point<3>(kIq3SGrid[index], kIq3SLevels, block[74 + i / 2] >> (i % 2 * 4), 4, codes + 4 * i);
  }
}

// Eighths of a point of -1, 0 and 1, an eighth up or down.
void put_shifted_point(int index, bool down, int8_t* codes) {
  for (int i = 0; i < 8; ++i) {
    const int level = ((kIq1Grid[index] >> (2 * i)) & 3) - 1;
    codes[i] = static_cast<int8_t>(8 * level + (down ? -1 : 1));
  }
}

// d, 32 bytes of index, for each 32 a word: four times three high bits of index, three of scale, the shift.
void unpack_iq1_s(const uint8_t* block, int8_t* codes, float* scales, float*) {
  const float d = half_at(block);
  for (int g = 0; g < 8; ++g) {
    const auto word = read<uint16_t>(block + 34 + 2 * g);
    scales[g] = d * static_cast<float>(2 * ((word >> 12) & 7) + 1) * 0.125f;
    for (int j = 0; j < 4; ++j) {
      const int index = block[2 + 4 * g + j] | ((word >> (3 * j)) & 7) << 8;
      put_shifted_point(index, (word & 0x8000) != 0, codes + 32 * g + 8 * j);
    }
  }
}

// 32 bytes of index, 16 with three high bits of index and a shift each, 4 words with four scales of three
// bits and a fourth part of d.
void unpack_iq1_m(const uint8_t* block, int8_t* codes, float* scales, float*) {
  uint16_t words[4];
  std::memcpy(words, block + 48, sizeof words);
  const int d_bits = words[0] >> 12 | (words[1] >> 12) << 4 | (words[2] >> 12) << 8 | (words[3] >> 12) << 12;
  const float d = f16_to_f32(static_cast<uint16_t>(d_bits));
  for (int g = 0; g < 16; ++g)
    scales[g] = d * static_cast<float>(2 * ((words[g / 4] >> (g % 4 * 3)) & 7) + 1) * 0.125f;
  for (int i = 0; i < 32; ++i) {
    const int high = block[32 + i / 2] >> (i % 2 * 4);
    put_shifted_point(block[i] | (high & 7) << 8, (high & 8) != 0, codes + 8 * i);
  }
}

// d, 16 high pairs of bits and 16 low nibbles of scales, 128 bytes of nibbles, as IQ4_NL's in each 32.
void unpack_iq4_xs(const uint8_t* block, int8_t* codes, float* scales, float*) {
  const float d = half_at(block);
  const auto high = read<uint16_t>(block + 2);
  for (int g = 0; g < 8; ++g) {
    const int scale = ((block[4 + g / 2] >> (g % 2 * 4)) & 15) | ((high >> (2 * g)) & 3) << 4;
    scales[g] = d * static_cast<float>(scale - 32);
    const uint8_t* packed = block + 8 + 16 * g;
    for (int j = 0; j < 16; ++j) {
      codes[32 * g + j] = kIq4NlLevels[packed[j] & 15];
      codes[32 * g + 16 + j] = kIq4NlLevels[packed[j] >> 4];
    }
  }
}

void repeat_scale(float d, float* scales) {
  for (int g = 0; g < 8; ++g) scales[g] = d;
}

// `trits` trits of each of `count` bytes, the highest first: trit t of byte j is element t · count + j.
void put_trits(const uint8_t* packed, int count, int trits, int8_t* codes) {
  constexpr uint8_t kPowers[5] = {1, 3, 9, 27, 81};
  for (int t = 0; t < trits; ++t) {
    for (int j = 0; j < count; ++j) {
      const auto shifted = static_cast<uint8_t>(packed[j] * kPowers[t]);
      codes[t * count + j] = static_cast<int8_t>((shifted * 3 >> 8) - 1);
    }
  }
}

// 48 bytes of five trits, 4 of four, d.
void unpack_tq1_0(const uint8_t* block, int8_t* codes, float* scales, float*) {
  repeat_scale(half_at(block + 52), scales);
  put_trits(block, 32, 5, codes);
  put_trits(block + 32, 16, 5, codes + 160);
  put_trits(block + 48, 4, 4, codes + 240);
}

// 64 bytes of pairs of bits as in Q2_K, d.
void unpack_tq2_0(const uint8_t* block, int8_t* codes, float* scales, float*) {
  repeat_scale(half_at(block + 64), scales);
  for (int i = 0; i < 256; ++i)
    codes[i] = static_cast<int8_t>(((block[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2)) & 3) - 1);
}

// The scale 2^(e - 128): an exponent, halved because the levels are doubled.
void unpack_mxfp4(const uint8_t* block, int8_t* codes, float* scales, float*) {
  const uint32_t e = block[0];
  scales[0] = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
  for (int j = 0; j < 16; ++j) {
    codes[j] = kE2M1Levels[block[1 + j] & 15];
    codes[j + 16] = kE2M1Levels[block[1 + j] >> 4];
  }
}

// 4 scales in E4M3 (the sign is not looked at; 0x7f stands for 0), 4 times 16 codes of E2M1.
void unpack_nvfp4(const uint8_t* block, int8_t* codes, float* scales, float*) {
  for (int g = 0; g < 4; ++g) {
    const int exponent = (block[g] >> 3) & 15;
    const auto mantissa = static_cast<float>(block[g] & 7);
    const float scale =
        exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(1.f + mantissa / 8.f, exponent - 7);
    scales[g] = block[g] == 0x7f ? 0.f : scale * 0.5f;
    const uint8_t* packed = block + 4 + 8 * g;
    for (int j = 0; j < 8; ++j) {
      codes[16 * g + j] = kE2M1Levels[packed[j] & 15];
      codes[16 * g + 8 + j] = kE2M1Levels[packed[j] >> 4];
    }
  }
}

}  // namespace

UnpackBlock lattice_unpacker_of(DType dtype) {
  switch (dtype) {
    case DType::kIQ1_S:
      return unpack_iq1_s;
    case DType::kIQ1_M:
      return unpack_iq1_m;
    case DType::kIQ2_XXS:
      return unpack_iq2_xxs;
    case DType::kIQ2_XS:
      return unpack_iq2_xs;
    case DType::kIQ2_S:
      return unpack_iq2_s;
    case DType::kIQ3_XXS:
      return unpack_iq3_xxs;
    case DType::kIQ3_S:
      return unpack_iq3_s;
    case DType::kIQ4_XS:
      return unpack_iq4_xs;
    case DType::kTQ1_0:
      return unpack_tq1_0;
    case DType::kTQ2_0:
      return unpack_tq2_0;
    case DType::kMXFP4:
      return unpack_mxfp4;
    case DType::kNVFP4:
      return unpack_nvfp4;
    default:
      return nullptr;
  }
}

}  // namespace pagoda::kernels
