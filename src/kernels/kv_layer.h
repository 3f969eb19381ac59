// One layer's KV blocks as the attention kernels see them.
#pragma once

#include <cstddef>

#include "tensor/dtype.h"

namespace pagoda::kernels {

// Tokens within a block come in tiles of 16, so that a vector register holds one dimension of 16 keys:
//   K: [kv_head][block_size / 16][head_dim / 2][16 tokens][2]   pairs of dimensions lie side by side
//   V: [kv_head][block_size][head_dim]
// kI8: a head's numbers of one token are codes in [-127, 127] times one f32 scale, max|x| / 127:
//   K: per tile [head_dim][16 tokens] codes, then [16] scales
//   V: per head [block_size][head_dim] codes, then [block_size] scales
constexpr int kKvTile = 16;
constexpr int kMostHeadDims = 1024;

constexpr size_t kv_element_bytes(DType dtype) {
  return dtype == DType::kF32 ? 4 : dtype == DType::kBF16 ? 2 : 1;
}
// K or V of one token and head, its scale included.
constexpr size_t kv_token_bytes(DType dtype, int head_dim) {
  return static_cast<size_t>(head_dim) * kv_element_bytes(dtype) + (dtype == DType::kI8 ? sizeof(float) : 0);
}

struct KvLayer {
  std::byte* base = nullptr;  // K of block 0
  size_t block_stride = 0;    // bytes from one block to the next
  size_t value_offset = 0;    // bytes from K to V within a block
  int block_size = 16;
  int kv_heads = 0;
  int head_dim = 0;
  DType dtype = DType::kBF16;  // kF32, kBF16 or kI8

  std::byte* keys(int block) const { return base + static_cast<size_t>(block) * block_stride; }
  std::byte* values(int block) const { return keys(block) + value_offset; }
};

}  // namespace pagoda::kernels
