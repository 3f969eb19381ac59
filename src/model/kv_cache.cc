#include "model/kv_cache.h"

#include <cstring>

#include "base/check.h"

namespace pagoda::model {

KvCache::KvCache(KvLayout layout, DType dtype, int block_size, std::vector<int> blocks)
    : layout_(std::move(layout)), dtype_(dtype), block_size_(block_size), blocks_(std::move(blocks)) {
  PAGODA_CHECK(block_size % kernels::kKvTile == 0, "a KV block holds whole tiles");
  PAGODA_CHECK(blocks_.size() == layout_.size(), "one block count per KV group");
  for (size_t group = 0; group < layout_.size(); ++group) {
    block_bytes_.push_back(layout_[group].block_bytes(block_size, dtype));
    storage_.emplace_back(static_cast<size_t>(block_bytes_[group]) * static_cast<size_t>(blocks_[group]));
    const auto& layers = layout_[group].layers;
    for (size_t i = 0; i < layers.size(); ++i) {
      if (places_.size() <= static_cast<size_t>(layers[i]))
        places_.resize(static_cast<size_t>(layers[i]) + 1);
      places_[static_cast<size_t>(layers[i])] = {static_cast<int>(group), static_cast<int>(i)};
    }
  }
}

kernels::KvLayer KvCache::layer(int layer) {
  const Place place = places_[static_cast<size_t>(layer)];
  const KvGroup& group = layout_[static_cast<size_t>(place.group)];
  const size_t layer_bytes = static_cast<size_t>(block_bytes(place.group)) / group.layers.size();
  kernels::KvLayer view;
  view.base = storage_[static_cast<size_t>(place.group)].data() +
              static_cast<size_t>(place.layer_in_group) * layer_bytes;
  view.block_stride = static_cast<size_t>(block_bytes(place.group));
  view.value_offset = layer_bytes / 2;
  view.block_size = block_size_;
  view.kv_heads = group.kv_heads;
  view.head_dim = group.head_dim;
  view.dtype = dtype_;
  return view;
}

std::byte* KvCache::block(int group, int index) {
  return storage_[static_cast<size_t>(group)].data() +
         static_cast<size_t>(index) * static_cast<size_t>(block_bytes(group));
}

void KvCache::copy_block(int group, int from, int to) {
  std::memcpy(block(group, to), block(group, from), static_cast<size_t>(block_bytes(group)));
}

}  // namespace pagoda::model
