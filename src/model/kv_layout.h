// The shape of the KV cache: layers of equal shape and reach form a group with its own blocks and block
// table.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kv_layer.h"
#include "tensor/dtype.h"

namespace pagoda::model {

struct KvGroup {
  std::vector<int> layers;  // indices of the model's layers that belong to it
  int kv_heads = 0;
  int head_dim = 0;
  int window = 0;  // a query sees the last `window` positions, itself included; 0: all of them

  // Bytes of one block of `block_size` tokens over all layers of the group, K and V.
  int64_t block_bytes(int block_size, DType dtype) const {
    return static_cast<int64_t>(2) * static_cast<int64_t>(layers.size()) * kv_heads * block_size *
           static_cast<int64_t>(kernels::kv_token_bytes(dtype, head_dim));
  }
};

using KvLayout = std::vector<KvGroup>;  // group 0 is the one of the longest reach

}  // namespace pagoda::model
