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

// Queries that go through a span together, to share what is loaded of its keys and values.
struct QueryBlock {
  const float* q[kQueries];  // [head_dim] each
  float* state[kQueries];    // [head_dim + kPartialExtra] each
  int lo[kQueries];          // positions [lo, hi) of the span are seen
  int hi[kQueries];
};

// scores[n] is [32]: scale · q·k, -infinity where the query does not see the key.
template <int kCount>
inline void score_span(const QueryBlock& block, const float* keys, int dims, float scale,
                       float (*scores)[kSpan]) {
  constexpr float kNever = -__builtin_inff();
  F32x16 sums[kCount][2];
  for (int n = 0; n < kCount; ++n) sums[n][0] = sums[n][1] = set(0.f);
  const float* second = keys + dims * 16;
  for (int d = 0; d < dims; ++d) {
    const F32x16 k0 = load(keys + d * 16), k1 = load(second + d * 16);
    for (int n = 0; n < kCount; ++n) {
      const F32x16 q = set(block.q[n][d]);
      sums[n][0] = fma(k0, q, sums[n][0]);
      sums[n][1] = fma(k1, q, sums[n][1]);
    }
  }
  for (int n = 0; n < kCount; ++n) {
    store(scores[n], keep_range(mul(sums[n][0], set(scale)), block.lo[n], block.hi[n], kNever));
    store(scores[n] + 16,
          keep_range(mul(sums[n][1], set(scale)), block.lo[n] - 16, block.hi[n] - 16, kNever));
  }
}

// Turns scores into weights, moves the state's peak and total on; what its sums must be multiplied by.
inline float weigh_span(float* scores, float* peak_and_total) {
  const F32x16 s0 = load(scores), s1 = load(scores + 16);
  const float span_peak = reduce_max(max(s0, s1));
  const float peak = span_peak > peak_and_total[0] ? span_peak : peak_and_total[0];
  const F32x16 p0 = exp(sub(s0, set(peak)));
  const F32x16 p1 = exp(sub(s1, set(peak)));
  store(scores, p0);
  store(scores + 16, p1);
  alignas(64) float correction[16];
  store(correction, exp(set(peak_and_total[0] - peak)));
  peak_and_total[0] = peak;
  peak_and_total[1] = __builtin_fmaf(peak_and_total[1], correction[0], reduce_add(add(p0, p1)));
  return correction[0];
}

// Adds positions [begin, end) of the span to the sums of dimensions [d, d + 16 · kParts).
template <int kCount, int kParts>
inline void add_values(const QueryBlock& block, const float (*weights)[kSpan], const float* corrections,
                       const float* values, int dims, int d, int begin, int end) {
  F32x16 sums[kCount][kParts];
  for (int n = 0; n < kCount; ++n) {
    for (int i = 0; i < kParts; ++i) sums[n][i] = mul(load(block.state[n] + d + 16 * i), set(corrections[n]));
  }
  for (int t = begin; t < end; ++t) {
    const float* row = values + t * dims + d;
    F32x16 v[kParts];
    for (int i = 0; i < kParts; ++i) v[i] = load(row + 16 * i);
    for (int n = 0; n < kCount; ++n) {
      const F32x16 weight = set(weights[n][t]);
      for (int i = 0; i < kParts; ++i) sums[n][i] = fma(weight, v[i], sums[n][i]);
    }
  }
  for (int n = 0; n < kCount; ++n) {
    for (int i = 0; i < kParts; ++i) store(block.state[n] + d + 16 * i, sums[n][i]);
  }
}

// Keys of the span that no query of the block sees have weight 0: only [begin, end) need be valid memory.
template <int kCount>
void attend_block(const QueryBlock& block, const float* keys, const float* values, int dims, float scale) {
  alignas(64) float weights[kCount][kSpan];
  float corrections[kCount];
  int begin = kSpan, end = 0;
  score_span<kCount>(block, keys, dims, scale, weights);
  for (int n = 0; n < kCount; ++n) {
    corrections[n] = weigh_span(weights[n], block.state[n] + dims);
    begin = block.lo[n] < begin ? block.lo[n] : begin;
    end = block.hi[n] > end ? block.hi[n] : end;
  }
  int d = 0;
  for (; d + 64 <= dims; d += 64)
    add_values<kCount, 4>(block, weights, corrections, values, dims, d, begin, end);
  for (; d < dims; d += 16) add_values<kCount, 1>(block, weights, corrections, values, dims, d, begin, end);
}

inline void attend_queries(const QueryBlock& block, int count, const float* keys, const float* values,
                           int dims, float scale) {
  switch (count) {
    case 0:
      return;
    case 1:
      return attend_block<1>(block, keys, values, dims, scale);
    case 2:
      return attend_block < kQueries < 2 ? 1 : 2 > (block, keys, values, dims, scale);
    case 3:
      return attend_block < kQueries < 3 ? 1 : 3 > (block, keys, values, dims, scale);
    default:
      return attend_block<kQueries>(block, keys, values, dims, scale);
  }
}

// Takes every query of the chunk through one span.
inline void attend_span(const AttentionWork& work, int span, int count, const float* keys,
                        const float* values, float* partials) {
  const int dims = work.layer.head_dim;
  QueryBlock block;
  int filled = 0;
  for (int r = 0; r < work.rows; ++r) {
    const int position = work.first_position + r;
    const int hi = position + 1 - span < count ? position + 1 - span : count;
    const int seen = work.window > 0 ? position - work.window + 1 - span : 0;
    const int lo = seen > 0 ? seen : 0;
    if (hi <= lo) continue;
    for (int h = 0; h < work.group; ++h) {
      block.q[filled] = work.q + r * work.q_stride + h * dims;
      block.state[filled] = partials + (r * work.group + h) * (dims + kPartialExtra);
      block.lo[filled] = lo;
      block.hi[filled] = hi;
      if (++filled == kQueries) {
        attend_queries(block, filled, keys, values, dims, work.scale);
        filled = 0;
      }
    }
  }
  attend_queries(block, filled, keys, values, dims, work.scale);
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
    attend_span(work, span, count, keys, values, partials);
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
