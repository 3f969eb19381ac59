// Paged causal attention with a running softmax (as in FlashAttention), over spans of 32 positions that begin
// at multiples of 32, so that a query's sums do not depend on how its sequence was cut into chunks or
// segments.

// Queries that go through a span together, to share what is loaded of its keys and values.
struct QueryBlock {
  const float* q[kQueries];  // [head_dim] each
  float* state[kQueries];    // [head_dim + kPartialExtra] each
  int lo[kQueries];          // positions [lo, hi) of the span are seen
  int hi[kQueries];
};

// scores[n] is [32]: scale · q·k, -infinity where the query does not see the key.
template <int kCount, class Span>
inline void score_span(const QueryBlock& block, const Span& span, float scale, float (*scores)[kSpan]) {
  constexpr float kNever = -__builtin_inff();
  F32x16 sums[kCount][2];
  for (int n = 0; n < kCount; ++n) sums[n][0] = sums[n][1] = set(0.f);
  for (int d = 0; d < span.dims; d += 2) {
    F32x16 even0, odd0, even1, odd1;
    span.key_pair(0, d, even0, odd0);
    span.key_pair(1, d, even1, odd1);
    for (int n = 0; n < kCount; ++n) {
      const F32x16 q_even = set(block.q[n][d]), q_odd = set(block.q[n][d + 1]);
      sums[n][0] = fma(odd0, q_odd, fma(even0, q_even, sums[n][0]));
      sums[n][1] = fma(odd1, q_odd, fma(even1, q_even, sums[n][1]));
    }
  }
  for (int n = 0; n < kCount; ++n) {
    if constexpr (Span::kScaled) {
      for (int tile = 0; tile < 2; ++tile) sums[n][tile] = mul(sums[n][tile], load(span.key_scales[tile]));
    }
    store(scores[n], keep_range(mul(sums[n][0], set(scale)), block.lo[n], block.hi[n], kNever));
    store(scores[n] + 16,
          keep_range(mul(sums[n][1], set(scale)), block.lo[n] - 16, block.hi[n] - 16, kNever));
  }
}

// Turns scores into weights, moves the state's peak and total on; what its sums must be multiplied by.
inline float weigh_span(float* scores, float* peak_and_total) {
  const F32x16 s0 = load(scores), s1 = load(scores + 16);
  const float span_peak = reduce_max(max(s0, s1));
  const float former = peak_and_total[0];
  const float peak = span_peak > former ? span_peak : former;
  const F32x16 p0 = exp(sub(s0, set(peak)));
  const F32x16 p1 = exp(sub(s1, set(peak)));
  store(scores, p0);
  store(scores + 16, p1);
  const float span_total = reduce_add(add(p0, p1));
  if (peak == former) {  // most spans of a long context
    peak_and_total[1] += span_total;
    return 1.f;
  }
  alignas(64) float correction[16];
  store(correction, exp(set(former - peak)));
  peak_and_total[0] = peak;
  peak_and_total[1] = __builtin_fmaf(peak_and_total[1], correction[0], span_total);
  return correction[0];
}

// Adds positions [begin, end) of the span to the sums of dimensions [d, d + 16 · kParts).
template <int kCount, int kParts, class Span>
inline void add_values(const QueryBlock& block, const float (*weights)[kSpan], const float* corrections,
                       const Span& span, int d, int begin, int end) {
  F32x16 sums[kCount][kParts];
  for (int n = 0; n < kCount; ++n) {
    for (int i = 0; i < kParts; ++i) sums[n][i] = mul(load(block.state[n] + d + 16 * i), set(corrections[n]));
  }
  for (int tile = 0; tile < 2; ++tile) {
    const int offset = tile * kKvTile;
    const int from = begin > offset ? begin : offset;
    const int to = end < offset + kKvTile ? end : offset + kKvTile;
    const auto* row = span.value_tile(tile) + (from - offset) * span.dims + d;
    for (int t = from; t < to; ++t, row += span.dims) {
      F32x16 v[kParts];
      for (int i = 0; i < kParts; ++i) v[i] = load_floats(row + 16 * i);
      for (int n = 0; n < kCount; ++n) {
        const F32x16 weight = set(weights[n][t]);
        for (int i = 0; i < kParts; ++i) sums[n][i] = fma(weight, v[i], sums[n][i]);
      }
    }
  }
  for (int n = 0; n < kCount; ++n) {
    for (int i = 0; i < kParts; ++i) store(block.state[n] + d + 16 * i, sums[n][i]);
  }
}

// Keys of the span that no query of the block sees have weight 0: only [begin, end) need be valid memory.
template <int kCount, class Span>
void attend_block(const QueryBlock& block, const Span& span, float scale) {
  alignas(64) float weights[kCount][kSpan];
  float corrections[kCount];
  int begin = kSpan, end = 0;
  score_span<kCount>(block, span, scale, weights);
  for (int n = 0; n < kCount; ++n) {
    corrections[n] = weigh_span(weights[n], block.state[n] + span.dims);
    if constexpr (Span::kScaled) {
      for (int tile = 0; tile < 2; ++tile) {
        float* p = weights[n] + 16 * tile;
        store(p, mul(load(p), load(span.value_scales[tile])));
      }
    }
    begin = block.lo[n] < begin ? block.lo[n] : begin;
    end = block.hi[n] > end ? block.hi[n] : end;
  }
  int d = 0;
  for (; d + 64 <= span.dims; d += 64)
    add_values<kCount, 4>(block, weights, corrections, span, d, begin, end);
  for (; d < span.dims; d += 16) add_values<kCount, 1>(block, weights, corrections, span, d, begin, end);
}

template <class Span>
inline void attend_queries(const QueryBlock& block, int count, const Span& span, float scale) {
  switch (count) {
    case 0:
      return;
    case 1:
      return attend_block<1>(block, span, scale);
    case 2:
      return attend_block < kQueries < 2 ? 1 : 2 > (block, span, scale);
    case 3:
      return attend_block < kQueries < 3 ? 1 : 3 > (block, span, scale);
    default:
      return attend_block<kQueries>(block, span, scale);
  }
}

// Takes every query of the chunk through one span.
template <class Span>
inline void attend_span(const AttentionWork& work, int first, int count, const Span& span, float* partials) {
  QueryBlock block;
  int filled = 0;
  for (int r = 0; r < work.rows; ++r) {
    const int position = work.first_position + r;
    const int hi = position + 1 - first < count ? position + 1 - first : count;
    const int seen = work.window > 0 ? position - work.window + 1 - first : 0;
    const int lo = seen > 0 ? seen : 0;
    if (hi <= lo) continue;
    for (int h = 0; h < work.group; ++h) {
      block.q[filled] = work.q + r * work.q_stride + h * span.dims;
      block.state[filled] = partials + (r * work.group + h) * (span.dims + kPartialExtra);
      block.lo[filled] = lo;
      block.hi[filled] = hi;
      if (++filled == kQueries) {
        attend_queries(block, filled, span, work.scale);
        filled = 0;
      }
    }
  }
  attend_queries(block, filled, span, work.scale);
}

inline void clear_states(const AttentionWork& work, float* partials) {
  const int dims = work.layer.head_dim;
  for (int i = 0; i < work.rows * work.group; ++i) {
    float* state = partials + i * (dims + kPartialExtra);
    for (int d = 0; d < dims; ++d) state[d] = 0.f;
    state[dims] = -__builtin_inff();
    state[dims + 1] = 0.f;
  }
}

// One span: where it lies for a single query block, else unpacked for all of them.
template <class InPlace>
inline void attend_packed(const AttentionWork& work, int first, int skipped, int count, float* scratch,
                          float* partials) {
  if (work.rows * work.group <= kQueries) {
    attend_span(work, first, count, span_in_place<InPlace>(work, first, skipped, count), partials);
  } else {
    attend_span(work, first, count, unpack_span<InPlace::kScaled>(work, first, skipped, count, scratch),
                partials);
  }
}

// scratch: [2][head_dim][16] keys, [32][head_dim] values.
void attend(const AttentionWork& work, float* scratch, float* partials) {
  clear_states(work, partials);
  const int last = work.first_position + work.rows;  // no query sees this position or a later one
  const int end = work.end < last ? work.end : last;
  const int earliest = work.window > 0 ? work.first_position - work.window + 1 : 0;
  for (int first = work.begin; first < end; first += kSpan) {
    if (first + kSpan <= earliest) continue;
    const int count = end - first < kSpan ? end - first : kSpan;
    const int skipped = earliest > first ? earliest - first : 0;  // their blocks may be gone
    prefetch_span(work, first + kSpan, end);
    if (work.layer.dtype == DType::kBF16) {
      attend_packed<Bf16Span>(work, first, skipped, count, scratch, partials);
    } else if (work.layer.dtype == DType::kI8) {
      attend_packed<Int8Span>(work, first, skipped, count, scratch, partials);
    } else {
      attend_span(work, first, count, unpack_span<false>(work, first, skipped, count, scratch), partials);
    }
  }
}

void merge(float* running, const float* segment, int count, int head_dim) {
  const int state_size = head_dim + kPartialExtra;
  for (int i = 0; i < count; ++i, running += state_size, segment += state_size) {
    if (running[head_dim + 1] == 0.f) {
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
