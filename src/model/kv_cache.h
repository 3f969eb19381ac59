// The memory behind KV blocks, for all layers of all groups. Who owns which block is the engine's business
// (engine/kv_blocks.h); here a block is an index. Memory is committed as blocks are first written.
#pragma once

#include <vector>

#include "kernels/kv_layer.h"
#include "model/kv_layout.h"
#include "tensor/buffer.h"

namespace pagoda::model {

class KvCache {
 public:
  // blocks[g] blocks of `block_size` tokens (a multiple of 16) for group g; dtype is kF32, kBF16 or kI8.
  KvCache(KvLayout layout, DType dtype, int block_size, std::vector<int> blocks);

  const KvLayout& layout() const { return layout_; }
  DType dtype() const { return dtype_; }
  int block_size() const { return block_size_; }
  int blocks(int group) const { return blocks_[static_cast<size_t>(group)]; }
  int64_t block_bytes(int group) const { return block_bytes_[static_cast<size_t>(group)]; }

  int group_of(int layer) const { return places_[static_cast<size_t>(layer)].group; }
  kernels::KvLayer layer(int layer);

  std::byte* block(int group, int index);
  void copy_block(int group, int from, int to);

 private:
  struct Place {
    int group;
    int layer_in_group;
  };
  KvLayout layout_;
  DType dtype_;
  int block_size_;
  std::vector<int> blocks_;
  std::vector<int64_t> block_bytes_;
  std::vector<Place> places_;    // by layer
  std::vector<Buffer> storage_;  // by group: [block][layer in group][K, V][kv_head][...]
};

}  // namespace pagoda::model
