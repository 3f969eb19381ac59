// One layer's KV blocks as the attention kernels see them.
#pragma once

#include <cstddef>

#include "tensor/dtype.h"

namespace pagoda::kernels {

// Tokens within a block come in tiles of 16, so that a vector register holds one dimension of 16 keys:
//   K: [kv_head][block_size / 16][head_dim / 2][16 tokens][2]   pairs of dimensions lie side by side
//   V: [kv_head][block_size][head_dim]
constexpr int kKvTile = 16;

struct KvLayer {
  std::byte* base = nullptr;  // K of block 0
  size_t block_stride = 0;    // bytes from one block to the next
  size_t value_offset = 0;    // bytes from K to V within a block
  int block_size = 16;
  int kv_heads = 0;
  int head_dim = 0;
  DType dtype = DType::kBF16;  // kF32 or kBF16

  std::byte* keys(int block) const { return base + static_cast<size_t>(block) * block_stride; }
  std::byte* values(int block) const { return keys(block) + value_offset; }
};

}  // namespace pagoda::kernels
