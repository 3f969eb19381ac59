#include "kernels/dequantise.h"

#include <cstring>

#include "base/check.h"
#include "kernels/unpack_block.h"

namespace pagoda::kernels {
namespace {

// In the order of DType, from kQ4_0 on.
constexpr QuantFormat kFormats[] = {
    {DType::kQ4_0, 4, -8, 7, 32, false},       {DType::kQ4_1, 4, 0, 15, 32, true},
    {DType::kQ5_0, 5, -16, 15, 32, false},     {DType::kQ5_1, 5, 0, 31, 32, true},
    {DType::kQ8_0, 8, -128, 127, 32, false},   {DType::kQ2_K, 2, 0, 3, 16, true},
    {DType::kQ3_K, 3, -4, 3, 16, false},       {DType::kQ4_K, 4, 0, 15, 32, true},
    {DType::kQ5_K, 5, 0, 31, 32, true},        {DType::kQ6_K, 6, -32, 31, 16, false},
    {DType::kIQ4_NL, 4, -127, 113, 32, false}, {DType::kIQ1_S, 2, -9, 9, 32, false},
    {DType::kIQ1_M, 2, -9, 9, 16, false},      {DType::kIQ2_XXS, 2, -43, 43, 32, false},
    {DType::kIQ2_XS, 2, -43, 43, 16, false},   {DType::kIQ2_S, 2, -43, 43, 16, false},
    {DType::kIQ3_XXS, 3, -62, 62, 32, false},  {DType::kIQ3_S, 3, -15, 15, 32, false},
    {DType::kIQ4_XS, 4, -127, 113, 32, false}, {DType::kTQ1_0, 2, -1, 1, 32, false},
    {DType::kTQ2_0, 2, -1, 2, 32, false},      {DType::kMXFP4, 4, -12, 12, 32, false},
    {DType::kNVFP4, 4, -12, 12, 16, false},
};

constexpr int kMaxBlock = 256;

float half_at(const uint8_t* bytes) {
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return f16_to_f32(bits);
}

int8_t signed_code(int code) {
  return static_cast<int8_t>(code);
}

// Each function below unpacks one block: codes of the block's elements, one scale and offset per group.

// 32 elements as nibbles: byte j holds element j below and element j + 16 above.
void split_nibbles(const uint8_t* packed, int bias, int8_t* codes) {
  for (int j = 0; j < 16; ++j) {
    codes[j] = signed_code((packed[j] & 0xf) - bias);
    codes[j + 16] = signed_code((packed[j] >> 4) - bias);
  }
}

// As split_nibbles, with bit j of `high` as the fifth bit of element j.
void split_nibbles_and_bits(const uint8_t* packed, const uint8_t* high, int bias, int8_t* codes) {
  uint32_t bits;
  std::memcpy(&bits, high, sizeof bits);
  for (int j = 0; j < 16; ++j) {
    codes[j] = signed_code(static_cast<int>((packed[j] & 0xfu) | ((bits >> j) & 1) << 4) - bias);
    codes[j + 16] = signed_code(static_cast<int>((packed[j] >> 4) | ((bits >> (j + 16)) & 1) << 4) - bias);
  }
}

// Q4_0: d (f16), 16 bytes of nibbles.
void unpack_q4_0(const uint8_t* block, int8_t* codes, float* scales, float*) {
  scales[0] = half_at(block);
  split_nibbles(block + 2, 8, codes);
}

// Q4_1: d, m (f16), 16 bytes of nibbles.
void unpack_q4_1(const uint8_t* block, int8_t* codes, float* scales, float* offsets) {
  scales[0] = half_at(block);
  offsets[0] = half_at(block + 2);
  split_nibbles(block + 4, 0, codes);
}

// Q5_0: d (f16), 4 bytes of fifth bits, 16 bytes of nibbles.
void unpack_q5_0(const uint8_t* block, int8_t* codes, float* scales, float*) {
  scales[0] = half_at(block);
  split_nibbles_and_bits(block + 6, block + 2, 16, codes);
}

// Q5_1: d, m (f16), 4 bytes of fifth bits, 16 bytes of nibbles.
void unpack_q5_1(const uint8_t* block, int8_t* codes, float* scales, float* offsets) {
  scales[0] = half_at(block);
  offsets[0] = half_at(block + 2);
  split_nibbles_and_bits(block + 8, block + 4, 0, codes);
}

// Q8_0: d (f16), 32 int8.
void unpack_q8_0(const uint8_t* block, int8_t* codes, float* scales, float*) {
  scales[0] = half_at(block);
  std::memcpy(codes, block + 2, 32);
}

// IQ4_NL: as Q4_0, the nibbles being indices of levels.
void unpack_iq4_nl(const uint8_t* block, int8_t* codes, float* scales, float*) {
  scales[0] = half_at(block);
  for (int j = 0; j < 16; ++j) {
    codes[j] = kIq4NlLevels[block[2 + j] & 0xf];
    codes[j + 16] = kIq4NlLevels[block[2 + j] >> 4];
  }
}

// Q2_K: 16 bytes of scales (low nibble) and minima (high nibble), 64 bytes of 2-bit codes, d, dmin (f16).
// Of each 128 elements, byte j holds elements j, j + 32, j + 64, j + 96 from its lowest bits up.
void unpack_q2_k(const uint8_t* block, int8_t* codes, float* scales, float* offsets) {
  const float scale = half_at(block + 80);
  const float minimum = half_at(block + 82);
  for (int group = 0; group < 16; ++group) {
    scales[group] = scale * static_cast<float>(block[group] & 0xf);
    offsets[group] = -(minimum * static_cast<float>(block[group] >> 4));
  }
  for (int i = 0; i < 256; ++i) {
    const uint8_t packed = block[16 + i / 128 * 32 + i % 32];
    codes[i] = signed_code((packed >> (i / 32 % 4 * 2)) & 3);
  }
}

// Q3_K: 32 bytes of third bits (bit b of byte j: element 32b + j; a clear bit takes 4 off), 64 bytes of 2-bit
// codes as in Q2_K, 12 bytes with 16 scales of 6 bits, d (f16).
void unpack_q3_k(const uint8_t* block, int8_t* codes, float* scales, float*) {
  const uint8_t* packed_scales = block + 96;
  const float scale = half_at(block + 108);
  for (int group = 0; group < 16; ++group) {
    const int low = (packed_scales[group % 8] >> (group / 8 * 4)) & 0xf;
    const int high = (packed_scales[8 + group % 4] >> (group / 4 * 2)) & 3;
    scales[group] = scale * static_cast<float>((low | high << 4) - 32);
  }
  for (int i = 0; i < 256; ++i) {
    const uint8_t packed = block[32 + i / 128 * 32 + i % 32];
    const int low = (packed >> (i / 32 % 4 * 2)) & 3;
    const int high = (block[i % 32] >> (i / 32)) & 1;
    codes[i] = signed_code(low - (high ? 0 : 4));
  }
}

// The 8 scales and 8 minima of 6 bits that Q4_K and Q5_K pack into 12 bytes.
void unpack_k_scales(const uint8_t* block, float* scales, float* offsets) {
  const float scale = half_at(block);
  const float minimum = half_at(block + 2);
  const uint8_t* packed = block + 4;
  for (int group = 0; group < 4; ++group) {
    scales[group] = scale * static_cast<float>(packed[group] & 63);
    offsets[group] = -(minimum * static_cast<float>(packed[group + 4] & 63));
    const int high_scale = (packed[group + 8] & 0xf) | ((packed[group] >> 2) & 0x30);
    const int high_minimum = (packed[group + 8] >> 4) | ((packed[group + 4] >> 2) & 0x30);
    scales[group + 4] = scale * static_cast<float>(high_scale);
    offsets[group + 4] = -(minimum * static_cast<float>(high_minimum));
  }
}

// Q4_K: d, dmin (f16), 12 bytes of scales and minima, 128 bytes of nibbles: of each 64 elements, byte j holds
// element j below and element j + 32 above.
void unpack_q4_k(const uint8_t* block, int8_t* codes, float* scales, float* offsets) {
  unpack_k_scales(block, scales, offsets);
  for (int i = 0; i < 256; ++i) {
    const uint8_t packed = block[16 + i / 64 * 32 + i % 32];
    codes[i] = signed_code((packed >> (i / 32 % 2 * 4)) & 0xf);
  }
}

// Q5_K: as Q4_K, with 32 bytes of fifth bits before the nibbles: bit b of byte j is for element 32b + j.
void unpack_q5_k(const uint8_t* block, int8_t* codes, float* scales, float* offsets) {
  unpack_k_scales(block, scales, offsets);
  for (int i = 0; i < 256; ++i) {
    const uint8_t packed = block[48 + i / 64 * 32 + i % 32];
    const int low = (packed >> (i / 32 % 2 * 4)) & 0xf;
    codes[i] = signed_code(low | ((block[16 + i % 32] >> (i / 32)) & 1) << 4);
  }
}

// Q6_K: 128 bytes of low nibbles (of each 128 elements, byte j holds element j below and element j + 64
// above), 64 bytes of high pairs of bits as in Q2_K, 16 int8 scales, d (f16).
void unpack_q6_k(const uint8_t* block, int8_t* codes, float* scales, float*) {
  const float scale = half_at(block + 208);
  for (int group = 0; group < 16; ++group)
    scales[group] = scale * static_cast<float>(static_cast<int8_t>(block[192 + group]));
  for (int i = 0; i < 256; ++i) {
    const int low = (block[i / 128 * 64 + i % 64] >> (i / 64 % 2 * 4)) & 0xf;
    const int high = (block[128 + i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2)) & 3;
    codes[i] = signed_code((low | high << 4) - 32);
  }
}

UnpackBlock unpacker_of(DType dtype) {
  switch (dtype) {
    case DType::kQ4_0:
      return unpack_q4_0;
    case DType::kQ4_1:
      return unpack_q4_1;
    case DType::kQ5_0:
      return unpack_q5_0;
    case DType::kQ5_1:
      return unpack_q5_1;
    case DType::kQ8_0:
      return unpack_q8_0;
    case DType::kQ2_K:
      return unpack_q2_k;
    case DType::kQ3_K:
      return unpack_q3_k;
    case DType::kQ4_K:
      return unpack_q4_k;
    case DType::kQ5_K:
      return unpack_q5_k;
    case DType::kQ6_K:
      return unpack_q6_k;
    case DType::kIQ4_NL:
      return unpack_iq4_nl;
    default:
      return lattice_unpacker_of(dtype);
  }
}

void dequantise_blocks(DType dtype, const uint8_t* row, int elements, float* out) {
  const UnpackBlock unpack = unpacker_of(dtype);
  PAGODA_CHECK(unpack != nullptr, "dequantise_row knows the dtype");
  const DTypeInfo& info = info_of(dtype);
  const QuantFormat& format = quant_format_of(dtype);
  int8_t codes[kMaxBlock];
  float scales[kMaxBlock / 16];
  float offsets[kMaxBlock / 16];
  for (int done = 0; done < elements; done += info.block_elements, row += info.block_bytes) {
    unpack(row, codes, scales, offsets);
    for (int i = 0; i < info.block_elements; ++i) {
      const int group = i / format.group;
      const float product = scales[group] * static_cast<float>(codes[i]);
      // No offset is not an offset of zero: -0 + 0 would lose its sign.
      out[done + i] = format.has_offset ? product + offsets[group] : product;
    }
  }
}

}  // namespace

const QuantFormat& quant_format_of(DType dtype) {
  PAGODA_CHECK(is_quantised(dtype), "only quantised dtypes have groups");
  const QuantFormat& format = kFormats[static_cast<size_t>(dtype) - static_cast<size_t>(DType::kQ4_0)];
  PAGODA_CHECK(format.dtype == dtype, "the formats are in the enum's order");
  return format;
}

bool can_dequantise(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF8E4M3 ||
         unpacker_of(dtype) != nullptr;
}

void dequantise_row(DType dtype, const std::byte* row, int elements, float* out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(row);
  uint16_t bits;
  switch (dtype) {
    case DType::kF32:
      std::memcpy(out, bytes, sizeof(float) * static_cast<size_t>(elements));
      break;
    case DType::kF16:
      for (int i = 0; i < elements; ++i) out[i] = half_at(bytes + 2 * i);
      break;
    case DType::kBF16:
      for (int i = 0; i < elements; ++i) {
        std::memcpy(&bits, bytes + 2 * i, sizeof bits);
        out[i] = bf16_to_f32(bits);
      }
      break;
    case DType::kF8E4M3:
      for (int i = 0; i < elements; ++i) out[i] = f8e4m3_to_f32(bytes[i]);
      break;
    default:
      dequantise_blocks(dtype, bytes, elements, out);
  }
}

void unpack_row(DType dtype, const std::byte* row, int elements, int8_t* codes, float* scales,
                float* offsets) {
  const UnpackBlock unpack = unpacker_of(dtype);
  PAGODA_CHECK(unpack != nullptr, "only quantised dtypes unpack");
  const DTypeInfo& info = info_of(dtype);
  const QuantFormat& format = quant_format_of(dtype);
  PAGODA_CHECK(elements % info.block_elements == 0, "a row is whole blocks");
  PAGODA_CHECK(offsets != nullptr || !format.has_offset, "the format has offsets");
  const int groups = info.block_elements / format.group;
  const auto* block = reinterpret_cast<const uint8_t*>(row);
  for (int done = 0; done < elements; done += info.block_elements, block += info.block_bytes) {
    unpack(block, codes + done, scales, offsets);
    scales += groups;
    if (offsets == nullptr) continue;
    if (!format.has_offset) std::memset(offsets, 0, sizeof(float) * static_cast<size_t>(groups));
    offsets += groups;
  }
}

}  // namespace pagoda::kernels
