// A layer's KV in memory (kernels/kv_layer.h), and spans of it as attention reads them: 32 positions, in
// place or unpacked. All spans of a type of storage give the same numbers, so that it does not matter which
// way a query came by them.

constexpr int kSpan = 2 * kKvTile;

inline const std::byte* key_tile(const KvLayer& layer, const int32_t* blocks, int kv_head, int position) {
  const size_t tiles = static_cast<size_t>(layer.block_size / kKvTile);
  const size_t tile =
      static_cast<size_t>(kv_head) * tiles + static_cast<size_t>(position % layer.block_size / kKvTile);
  return layer.keys(blocks[position / layer.block_size]) +
         tile * static_cast<size_t>(kKvTile) * kv_token_bytes(layer.dtype, layer.head_dim);
}

// A head's values in the position's block.
inline const std::byte* value_block(const KvLayer& layer, const int32_t* blocks, int kv_head, int position) {
  return layer.values(blocks[position / layer.block_size]) + static_cast<size_t>(kv_head) *
                                                                 static_cast<size_t>(layer.block_size) *
                                                                 kv_token_bytes(layer.dtype, layer.head_dim);
}

inline const std::byte* value_row(const KvLayer& layer, const int32_t* blocks, int kv_head, int position) {
  return value_block(layer, blocks, kv_head, position) + static_cast<size_t>(position % layer.block_size) *
                                                             static_cast<size_t>(layer.head_dim) *
                                                             kv_element_bytes(layer.dtype);
}

// kI8: the scales of 16 keys or values, from a position that is a multiple of 16.
inline const float* key_scales(const KvLayer& layer, const int32_t* blocks, int kv_head, int position) {
  return reinterpret_cast<const float*>(key_tile(layer, blocks, kv_head, position) +
                                        kKvTile * layer.head_dim);
}
inline const float* value_scales(const KvLayer& layer, const int32_t* blocks, int kv_head, int position) {
  return reinterpret_cast<const float*>(value_block(layer, blocks, kv_head, position) +
                                        layer.block_size * layer.head_dim) +
         position % layer.block_size;
}

// keys: [head_dim][16]; those of kI8 without their scales.
inline void load_keys(const AttentionWork& work, int position, float* keys) {
  const std::byte* tile = key_tile(work.layer, work.blocks, work.kv_head, position);
  const int dims = work.layer.head_dim;
  if (work.layer.dtype == DType::kBF16) {
    const uint16_t* p = reinterpret_cast<const uint16_t*>(tile);
    for (int d = 0; d < dims; d += 2) {
      F32x16 even, odd;
      load_bf16_pairs(p + d * 16, even, odd);
      store(keys + d * 16, even);
      store(keys + d * 16 + 16, odd);
    }
    return;
  }
  for (int d = 0; d < dims; ++d) {
    store(keys + d * 16, work.layer.dtype == DType::kI8
                             ? load_i8(reinterpret_cast<const int8_t*>(tile) + d * 16)
                             : load(reinterpret_cast<const float*>(tile) + d * 16));
  }
}

inline F32x16 load_value(const std::byte* row, DType dtype, int d) {
  switch (dtype) {
    case DType::kF32:
      return load(reinterpret_cast<const float*>(row) + d);
    case DType::kBF16:
      return load_bf16(reinterpret_cast<const uint16_t*>(row) + d);
    default:
      return load_i8(reinterpret_cast<const int8_t*>(row) + d);
  }
}

inline F32x16 load_floats(const float* p) {
  return load(p);
}
inline F32x16 load_floats(const uint16_t* p) {
  return load_bf16(p);
}
inline F32x16 load_floats(const int8_t* p) {
  return load_i8(p);
}

// A span's keys and values, unpacked once for many query blocks.
template <bool kWithScales>
struct UnpackedSpan {
  static constexpr bool kScaled = kWithScales;
  const float* keys;           // [2][head_dim][16]
  const float* values;         // [32][head_dim]
  const float* key_scales[2];  // [16] each, where kScaled
  const float* value_scales[2];
  int dims;

  inline void key_pair(int tile, int d, F32x16& even, F32x16& odd) const {
    const float* p = keys + (tile * dims + d) * 16;
    even = load(p);
    odd = load(p + 16);
  }
  inline const float* value_tile(int tile) const { return values + tile * kKvTile * dims; }
};

// The same where it lies: one query block alone is faster served without a copy.
struct Bf16Span {
  static constexpr bool kScaled = false;
  const uint16_t* keys[2];    // per tile of 16 positions: [head_dim / 2][16][2]
  const uint16_t* values[2];  // [16][head_dim]
  int dims;

  inline void key_pair(int tile, int d, F32x16& even, F32x16& odd) const {
    load_bf16_pairs(keys[tile] + d * 16, even, odd);
  }
  inline const uint16_t* value_tile(int tile) const { return values[tile]; }
};

struct Int8Span {
  static constexpr bool kScaled = true;
  const int8_t* keys[2];    // per tile of 16 positions: [head_dim][16]
  const int8_t* values[2];  // [16][head_dim]
  const float* key_scales[2];
  const float* value_scales[2];
  int dims;

  inline void key_pair(int tile, int d, F32x16& even, F32x16& odd) const {
    even = load_i8(keys[tile] + d * 16);
    odd = load_i8(keys[tile] + d * 16 + 16);
  }
  inline const int8_t* value_tile(int tile) const { return values[tile]; }
};

// Positions [skipped, count) of a span are read. A tile outside of them may not be there: the other one
// stands in, and counts for nothing.
inline int present_tile(int tile, int skipped, int count) {
  return skipped >= 16 ? 1 : count <= 16 ? 0 : tile;
}

template <class Span>
inline void find_scales(const AttentionWork& work, int first, int skipped, int count, Span& span) {
  for (int tile = 0; tile < 2; ++tile) {
    const int position = first + 16 * present_tile(tile, skipped, count);
    span.key_scales[tile] = key_scales(work.layer, work.blocks, work.kv_head, position);
    span.value_scales[tile] = value_scales(work.layer, work.blocks, work.kv_head, position);
  }
}

template <class Span>
inline Span span_in_place(const AttentionWork& work, int first, int skipped, int count) {
  Span span;
  span.dims = work.layer.head_dim;
  for (int tile = 0; tile < 2; ++tile) {
    const int position = first + 16 * present_tile(tile, skipped, count);
    span.keys[tile] = reinterpret_cast<decltype(span.keys[tile] + 0)>(
        key_tile(work.layer, work.blocks, work.kv_head, position));
    span.values[tile] = reinterpret_cast<decltype(span.values[tile] + 0)>(
        value_row(work.layer, work.blocks, work.kv_head, position));
  }
  if constexpr (Span::kScaled) find_scales(work, first, skipped, count, span);
  return span;
}

template <bool kScaled>
inline UnpackedSpan<kScaled> unpack_span(const AttentionWork& work, int first, int skipped, int count,
                                         float* scratch) {
  const int dims = work.layer.head_dim;
  float* values = scratch + kSpan * dims;
  for (int t = skipped / 16 * 16; t < count; t += 16) load_keys(work, first + t, scratch + t * dims);
  for (int t = skipped; t < count; ++t) {
    const std::byte* row = value_row(work.layer, work.blocks, work.kv_head, first + t);
    for (int d = 0; d < dims; d += 16) store(values + t * dims + d, load_value(row, work.layer.dtype, d));
  }
  UnpackedSpan<kScaled> span{scratch, values, {}, {}, dims};
  if constexpr (kScaled) find_scales(work, first, skipped, count, span);
  return span;
}

// The blocks lie anywhere: the memory is told early which come next.
inline void prefetch_span(const AttentionWork& work, int first, int end) {
  const size_t tile_bytes =
      static_cast<size_t>(kKvTile) * kv_token_bytes(work.layer.dtype, work.layer.head_dim);
  for (int position = first; position < end && position < first + kSpan; position += kKvTile) {
    const std::byte* keys = key_tile(work.layer, work.blocks, work.kv_head, position);
    const std::byte* values = value_row(work.layer, work.blocks, work.kv_head, position);
    for (size_t i = 0; i < tile_bytes; i += 64) {
      __builtin_prefetch(keys + i);
      __builtin_prefetch(values + i);
    }
  }
}

inline void write_f32(const float* k, const float* v, int dims, int token, float* keys, float* value) {
  for (int d = 0; d < dims; ++d) keys[d * kKvTile + token] = k[d];
  for (int d = 0; d < dims; d += 16) store(value + d, load(v + d));
}

inline void write_bf16(const float* k, const float* v, int dims, int token, uint16_t* keys, uint16_t* value) {
  for (int d = 0; d < dims; ++d) keys[d / 2 * 2 * kKvTile + 2 * token + d % 2] = f32_to_bf16(k[d]);
  for (int d = 0; d < dims; d += 16) store_bf16(value + d, load(v + d));
}

// codes = x / scale to the nearest, ties to even.
inline void quantise_head(const float* x, int dims, int8_t* codes, float* scale) {
  F32x16 peaks = set(0.f);
  for (int d = 0; d < dims; d += 16) peaks = max(peaks, abs(load(x + d)));
  const float peak = reduce_max(peaks);
  *scale = peak / 127.f;
  const F32x16 inverse = set(peak > 0.f ? 127.f / peak : 0.f);
  for (int d = 0; d < dims; d += 16) store_i8(codes + d, to_i32(mul(load(x + d), inverse)));
}

void write_kv(const float* k, const float* v, int position, const int32_t* blocks, const KvLayer& layer) {
  const int dims = layer.head_dim;
  const int token = position % kKvTile;
  for (int head = 0; head < layer.kv_heads; ++head, k += dims, v += dims) {
    std::byte* keys = const_cast<std::byte*>(key_tile(layer, blocks, head, position));
    std::byte* value = const_cast<std::byte*>(value_row(layer, blocks, head, position));
    if (layer.dtype == DType::kF32) {
      write_f32(k, v, dims, token, reinterpret_cast<float*>(keys), reinterpret_cast<float*>(value));
    } else if (layer.dtype == DType::kBF16) {
      write_bf16(k, v, dims, token, reinterpret_cast<uint16_t*>(keys), reinterpret_cast<uint16_t*>(value));
    } else {
      alignas(64) int8_t codes[kMostHeadDims];
      const int tile = position - token;
      quantise_head(k, dims, codes, const_cast<float*>(key_scales(layer, blocks, head, tile)) + token);
      for (int d = 0; d < dims; ++d) reinterpret_cast<int8_t*>(keys)[d * kKvTile + token] = codes[d];
      quantise_head(v, dims, reinterpret_cast<int8_t*>(value),
                    const_cast<float*>(value_scales(layer, blocks, head, tile)) + token);
    }
  }
}
