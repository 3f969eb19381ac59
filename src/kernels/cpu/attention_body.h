// Paged causal attention with a running softmax (as in FlashAttention), over spans of 32 positions that begin
// at multiples of 32, so that a query's sums do not depend on how its sequence was cut into chunks or
// segments.

constexpr int kSpan = 2 * kKvTile;

inline const std::byte* key_tile(const KvLayer& layer, const int32_t* blocks, int kv_head, int position) {
  const size_t element = layer.dtype == DType::kF32 ? 4 : 2;
  const size_t tile_bytes = static_cast<size_t>(layer.head_dim) * kKvTile * element;
  const size_t tiles = static_cast<size_t>(layer.block_size / kKvTile);
  const size_t tile =
      static_cast<size_t>(kv_head) * tiles + static_cast<size_t>(position % layer.block_size / kKvTile);
  return layer.keys(blocks[position / layer.block_size]) + tile * tile_bytes;
}

inline const std::byte* value_row(const KvLayer& layer, const int32_t* blocks, int kv_head, int position) {
  const size_t element = layer.dtype == DType::kF32 ? 4 : 2;
  const size_t row = static_cast<size_t>(kv_head) * static_cast<size_t>(layer.block_size) +
                     static_cast<size_t>(position % layer.block_size);
  return layer.values(blocks[position / layer.block_size]) +
         row * static_cast<size_t>(layer.head_dim) * element;
}

// keys: [head_dim][16]
inline void load_keys(const AttentionWork& work, int position, float* keys) {
  const std::byte* tile = key_tile(work.layer, work.blocks, work.kv_head, position);
  const int dims = work.layer.head_dim;
  if (work.layer.dtype == DType::kF32) {
    const float* p = reinterpret_cast<const float*>(tile);
    for (int d = 0; d < dims; ++d) store(keys + d * 16, load(p + d * 16));
    return;
  }
  const uint16_t* p = reinterpret_cast<const uint16_t*>(tile);
  for (int d = 0; d < dims; d += 2) {
    F32x16 even, odd;
    load_bf16_pairs(p + d * 16, even, odd);
    store(keys + d * 16, even);
    store(keys + d * 16 + 16, odd);
  }
}

inline void load_value(const AttentionWork& work, int position, float* value) {
  const std::byte* row = value_row(work.layer, work.blocks, work.kv_head, position);
  const int dims = work.layer.head_dim;
  for (int d = 0; d < dims; d += 16) {
    const size_t at = static_cast<size_t>(d);
    store(value + d, work.layer.dtype == DType::kF32
                         ? load(reinterpret_cast<const float*>(row) + at)
                         : load_bf16(reinterpret_cast<const uint16_t*>(row) + at));
  }
}

// Scores of one query against 16 keys: even and odd dimensions are summed apart, for two chains of additions.
inline F32x16 score(const float* q, const float* keys, int dims) {
  F32x16 even = set(0.f), odd = set(0.f);
  for (int d = 0; d < dims; d += 2) {
    even = fma(load(keys + d * 16), set(q[d]), even);
    odd = fma(load(keys + d * 16 + 16), set(q[d + 1]), odd);
  }
  return add(even, odd);
}

// Adds positions [lo, hi) of the span to one query's state.
inline void attend_span(const float* q, const float* keys, const float* values, int dims, float scale, int lo,
                        int hi, float* state) {
  constexpr float kNever = -__builtin_inff();
  F32x16 s0 = mul(score(q, keys, dims), set(scale));
  F32x16 s1 = hi > 16 ? mul(score(q, keys + dims * 16, dims), set(scale)) : set(kNever);
  s0 = keep_range(s0, lo, hi, kNever);
  s1 = keep_range(s1, lo - 16, hi - 16, kNever);
  const float old_peak = state[dims];
  const float span_peak = reduce_max(max(s0, s1));
  const float peak = span_peak > old_peak ? span_peak : old_peak;
  const F32x16 correction = exp(set(old_peak - peak));
  alignas(64) float p[kSpan];
  const F32x16 p0 = exp(sub(s0, set(peak)));
  const F32x16 p1 = exp(sub(s1, set(peak)));
  store(p, p0);
  store(p + 16, p1);
  alignas(64) float first[16];
  store(first, correction);
  state[dims] = peak;
  state[dims + 1] = __builtin_fmaf(state[dims + 1], first[0], reduce_add(add(p0, p1)));
  for (int d = 0; d < dims; d += 64) {  // four registers of the sum at a time
    const int count = dims - d < 64 ? (dims - d) / 16 : 4;
    F32x16 sums[4];
    for (int i = 0; i < count; ++i) sums[i] = mul(load(state + d + 16 * i), correction);
    for (int t = lo; t < hi; ++t) {
      const F32x16 weight = set(p[t]);
      for (int i = 0; i < count; ++i) sums[i] = fma(weight, load(values + t * dims + d + 16 * i), sums[i]);
    }
    for (int i = 0; i < count; ++i) store(state + d + 16 * i, sums[i]);
  }
}

void attend(const AttentionWork& work, float* scratch, float* partials) {
  const int dims = work.layer.head_dim;
  const int state_size = dims + kPartialExtra;
  float* keys = scratch;                   // [2][head_dim][16]
  float* values = scratch + kSpan * dims;  // [32][head_dim]
  for (int i = 0; i < work.rows * work.group; ++i) {
    float* state = partials + i * state_size;
    for (int d = 0; d < dims; ++d) state[d] = 0.f;
    state[dims] = -__builtin_inff();
    state[dims + 1] = 0.f;
  }
  const int last = work.first_position + work.rows;  // no query sees this position or a later one
  const int end = work.end < last ? work.end : last;
  const int earliest = work.window > 0 ? work.first_position - work.window + 1 : 0;
  for (int span = work.begin; span < end; span += kSpan) {
    if (span + kSpan <= earliest) continue;
    const int count = end - span < kSpan ? end - span : kSpan;
    const int skipped = earliest > span ? earliest - span : 0;  // their blocks may be gone
    for (int t = skipped / 16 * 16; t < count; t += 16) load_keys(work, span + t, keys + t * dims);
    for (int t = skipped; t < count; ++t) load_value(work, span + t, values + t * dims);
    for (int r = 0; r < work.rows; ++r) {
      const int position = work.first_position + r;
      const int hi = position + 1 - span < count ? position + 1 - span : count;
      const int seen = work.window > 0 ? position - work.window + 1 - span : 0;
      const int lo = seen > 0 ? seen : 0;
      if (hi <= lo) continue;
      for (int h = 0; h < work.group; ++h) {
        attend_span(work.q + r * work.q_stride + h * dims, keys, values, dims, work.scale, lo, hi,
                    partials + (r * work.group + h) * state_size);
      }
    }
  }
}

void merge(float* running, const float* segment, int count, int head_dim, bool first) {
  const int state_size = head_dim + kPartialExtra;
  for (int i = 0; i < count; ++i, running += state_size, segment += state_size) {
    if (first || running[head_dim + 1] == 0.f) {
      for (int d = 0; d < state_size; ++d) running[d] = segment[d];
      continue;
    }
    if (segment[head_dim + 1] == 0.f) continue;  // nothing of it is in the query's window
    const float peak = running[head_dim] > segment[head_dim] ? running[head_dim] : segment[head_dim];
    const F32x16 keep = exp(set(running[head_dim] - peak));
    const F32x16 take = exp(set(segment[head_dim] - peak));
    alignas(64) float k[16], t[16];
    store(k, keep);
    store(t, take);
    for (int d = 0; d < head_dim; d += 16) {
      store(running + d, fma(load(segment + d), take, mul(load(running + d), keep)));
    }
    running[head_dim] = peak;
    running[head_dim + 1] = __builtin_fmaf(segment[head_dim + 1], t[0], running[head_dim + 1] * k[0]);
  }
}

void finish(const float* partial, int head_dim, float* y) {
  const F32x16 total = set(partial[head_dim + 1]);
  for (int d = 0; d < head_dim; d += 16) store(y + d, div(load(partial + d), total));
}

void write_kv(const float* k, const float* v, int position, const int32_t* blocks, const KvLayer& layer) {
  const int dims = layer.head_dim;
  const int token = position % kKvTile;
  for (int head = 0; head < layer.kv_heads; ++head, k += dims, v += dims) {
    std::byte* keys = const_cast<std::byte*>(key_tile(layer, blocks, head, position));
    std::byte* value = const_cast<std::byte*>(value_row(layer, blocks, head, position));
    if (layer.dtype == DType::kF32) {
      float* p = reinterpret_cast<float*>(keys);
      for (int d = 0; d < dims; ++d) p[d * kKvTile + token] = k[d];
      for (int d = 0; d < dims; d += 16) store(reinterpret_cast<float*>(value) + d, load(v + d));
    } else {
      uint16_t* p = reinterpret_cast<uint16_t*>(keys);
      for (int d = 0; d < dims; ++d) p[d / 2 * 2 * kKvTile + 2 * token + d % 2] = f32_to_bf16(k[d]);
      for (int d = 0; d < dims; d += 16) store_bf16(reinterpret_cast<uint16_t*>(value) + d, load(v + d));
    }
  }
}
