// y = x · weightᵀ on int8 activations and quantised weights. One group of weights is unpacked into registers
// and serves every row of the block; sums are exact integers within a group, f32 in the order of the groups
// across it.

enum class Offset { kNone, kAdded, kZeroPoint };

constexpr Offset offset_of(const PackedFormat& format) {
  return !format.has_offset            ? Offset::kNone
         : format.offset_is_zero_point ? Offset::kZeroPoint
                                       : Offset::kAdded;
}

template <int kBits, int kGroup, Offset kOffset>
struct WeightGroup {
  static constexpr int kQuads = kGroup / 4;
  static constexpr int kCodeBytes = kGroup * kBits * kTileRows / 8;
  static constexpr int kScaleBytes = kTileRows * 2 * (kOffset == Offset::kNone ? 1 : 2);

  U8x64 quads[kQuads];
  F32x16 scale;
  F32x16 offset;

  inline void unpack(const uint8_t* p, const uint8_t* after) {
    if constexpr (kBits == 8) {
      for (int q = 0; q < kQuads; ++q) quads[q] = load_codes(p + 64 * q);
    } else {
      for (int q = 0; q < kQuads / 2; ++q) {
        const U8x64 both = load_codes(p + 64 * q);
        quads[q] = low_nibbles(both);
        quads[q + kQuads / 2] = high_nibbles(both);
      }
    }
    const uint16_t* scales = reinterpret_cast<const uint16_t*>(after);
    scale = load_f16(scales);
    if constexpr (kOffset != Offset::kNone) offset = load_f16(scales + kTileRows);
    if constexpr (kOffset == Offset::kZeroPoint) offset = sub(set(0.f), mul(scale, offset));
  }
};

// What one group of one row brings to its products. Pointers are to the block's first entry, kept apart from
// the QuantisedRows so that stores to the sums cannot make the compiler read them again.
template <int kBits, int kGroup, Offset kOffset>
struct RowGroups {
  const int8_t* codes;
  const float* scales;
  const int32_t* starts;
  const float* scaled_sums;

  RowGroups(const QuantisedRows& x, size_t first)
      : codes(x.codes + first * kQuantGroup), scales(x.scales + first) {
    constexpr bool kHalves = kGroup == 16;
    const int32_t* whole = kBits == 8 ? x.starts8 : x.starts4;
    const int32_t* half = kBits == 8 ? x.half_starts8 : x.half_starts4;
    starts = kHalves ? half + 2 * first : whole + first;
    scaled_sums = kHalves ? x.half_scaled_sums + 2 * first : x.scaled_sums + first;
  }

  // sums[t] += weights of tile t · row `entry`.
  template <int kTiles>
  inline void multiply(const WeightGroup<kBits, kGroup, kOffset>* weights, size_t entry, size_t half,
                       F32x16* sums) const {
    constexpr bool kHalves = kGroup == 16;
    const int8_t* a = codes + entry * kQuantGroup + 16 * half;
    const size_t at = kHalves ? 2 * entry + half : entry;
    for (int t = 0; t < kTiles; ++t) {
      I32x16 dot = kBits == 8 ? start_s8(starts[at]) : set_i(kOffset != Offset::kNone ? 0 : starts[at]);
      for (int q = 0; q < kGroup / 4; ++q) {
        dot = kBits == 8 ? dot_s8(dot, weights[t].quads[q], a + 4 * q)
                         : dot_u4(dot, weights[t].quads[q], a + 4 * q);
      }
      sums[t] = fma(to_f32(dot), mul(weights[t].scale, set(scales[entry])), sums[t]);
      if constexpr (kOffset != Offset::kNone) sums[t] = fma(weights[t].offset, set(scaled_sums[at]), sums[t]);
    }
  }
};

// Tiles [0, kTiles) of `tiles` against one block of rows; acc is [rows of the block][kTiles][16].
template <int kBits, int kGroup, Offset kOffset, int kTiles>
void multiply_tiles_int8(const uint8_t* const* tiles, int groups_per_scale, const QuantisedRows& x, int block,
                         float* acc) {
  using Group = WeightGroup<kBits, kGroup, kOffset>;
  const size_t rows = static_cast<size_t>(x.rows_in_block(block));
  const RowGroups<kBits, kGroup, kOffset> row_groups(
      x, static_cast<size_t>(block) * kRowBlock * static_cast<size_t>(x.groups()));
  const int groups = x.columns / kGroup;
  constexpr size_t kStride = kTiles * kTileRows;
  Group weights[kTiles];
  F32x16 sums[kTiles];
  for (int t = 0; t < kTiles; ++t) sums[t] = set(0.f);
  const size_t scales_at = static_cast<size_t>(groups_per_scale) * Group::kCodeBytes;
  size_t span = 0;  // where it begins in a tile
  for (int g = 0, in_span = 0; g < groups; ++g) {
    const size_t codes = span + static_cast<size_t>(in_span) * Group::kCodeBytes;
    for (int t = 0; t < kTiles; ++t) weights[t].unpack(tiles[t] + codes, tiles[t] + span + scales_at);
    if (++in_span == groups_per_scale) {
      in_span = 0;
      span += scales_at + Group::kScaleBytes;
    }
    const int position = g * kGroup;
    const size_t entry = static_cast<size_t>(position / kQuantGroup) * rows;
    const size_t half = static_cast<size_t>(position % kQuantGroup / 16);
    if (rows == 1) {  // decoding one sequence: the sums stay in registers
      row_groups.template multiply<kTiles>(weights, entry, half, sums);
      continue;
    }
    for (size_t r = 0; r < rows; ++r) {
      float* out = acc + r * kStride;
      for (int t = 0; t < kTiles; ++t) sums[t] = g == 0 ? set(0.f) : load(out + t * kTileRows);
      row_groups.template multiply<kTiles>(weights, entry + r, half, sums);
      for (int t = 0; t < kTiles; ++t) store(out + t * kTileRows, sums[t]);
    }
  }
  if (rows == 1) {
    for (int t = 0; t < kTiles; ++t) store(acc + t * kTileRows, sums[t]);
  }
}

using MultiplyTilesInt8 = void (*)(const uint8_t* const* tiles, int groups_per_scale, const QuantisedRows& x,
                                   int block, float* acc);

template <int kBits, int kTiles>
MultiplyTilesInt8 choose_multiply_int8(const PackedFormat& format) {
  const bool wide = format.group == 32;
  switch (offset_of(format)) {
    case Offset::kZeroPoint:  // only ever of groups of 32
      return multiply_tiles_int8<kBits, 32, Offset::kZeroPoint, kTiles>;
    case Offset::kAdded:
      return wide ? multiply_tiles_int8<kBits, 32, Offset::kAdded, kTiles>
                  : multiply_tiles_int8<kBits, 16, Offset::kAdded, kTiles>;
    case Offset::kNone:
      break;
  }
  return wide ? multiply_tiles_int8<kBits, 32, Offset::kNone, kTiles>
              : multiply_tiles_int8<kBits, 16, Offset::kNone, kTiles>;
}

// Writes the sums of one tile and one block of rows where they belong; `stride` is from row to row of acc.
inline void store_tile(const PackedMatrix& weight, int tile, int first_row, int rows, const float* acc,
                       int stride, Matrix y, Store how) {
  const int column = tile * kTileRows;
  const int count = weight.rows - column < kTileRows ? weight.rows - column : kTileRows;
  const bool scaled = !weight.row_multipliers.empty();
  const F32x16 multiplier = scaled ? load(weight.row_multipliers.data() + column) : set(1.f);
  for (int r = 0; r < rows; ++r) {
    float* out = y.row(first_row + r) + column;
    F32x16 sum = load(acc + r * stride);
    if (scaled) sum = mul(sum, multiplier);
    if (how == Store::kAdd) sum = add(sum, load_n(out, count));
    store_n(out, sum, count);
  }
}

template <int kTiles>
void linear_int8_tiles(const PackedMatrix& weight, const QuantisedRows& x, int tile, Matrix y, Store how) {
  const MultiplyTilesInt8 multiply = weight.format.bits == 4 ? choose_multiply_int8<4, kTiles>(weight.format)
                                                             : choose_multiply_int8<8, kTiles>(weight.format);
  alignas(64) float acc[kRowBlock * kTiles * kTileRows];
  const uint8_t* tiles[kTiles];
  for (int t = 0; t < kTiles; ++t) tiles[t] = weight.tile(tile + t);
  const int blocks = (x.rows + kRowBlock - 1) / kRowBlock;
  for (int block = 0; block < blocks; ++block) {
    multiply(tiles, weight.format.groups_per_scale, x, block, acc);
    for (int t = 0; t < kTiles; ++t) {
      store_tile(weight, tile + t, block * kRowBlock, x.rows_in_block(block), acc + t * kTileRows,
                 kTiles * kTileRows, y, how);
    }
  }
}

void linear_int8(const PackedMatrix& weight, const QuantisedRows& x, int begin, int end, Matrix y,
                 Store how) {
  int tile = begin;
  for (; tile + kInt8Tiles <= end; tile += kInt8Tiles) linear_int8_tiles<kInt8Tiles>(weight, x, tile, y, how);
  for (; tile < end; ++tile) linear_int8_tiles<1>(weight, x, tile, y, how);
}

// One group of 32 of one row, at entry `i`.
inline void quantise_group(const float* p, int count, const QuantisedRows& out, size_t i) {
  const F32x16 a = load_n(p, count);
  const F32x16 b = count > 16 ? load_n(p + 16, count - 16) : set(0.f);
  const float peak = reduce_max(max(abs(a), abs(b)));
  const float scale = peak / 127.f;
  const F32x16 inverse = set(peak > 0.f ? 127.f / peak : 0.f);
  const I32x16 first = to_i32(mul(a, inverse));
  const I32x16 second = to_i32(mul(b, inverse));
  store_i8(out.codes + i * kQuantGroup, first);
  store_i8(out.codes + i * kQuantGroup + 16, second);
  const int32_t sum = reduce_add_i(add_i(first, second));
  out.scales[i] = scale;
  out.starts4[i] = -8 * sum;
  out.starts8[i] = -128 * sum;
  out.scaled_sums[i] = scale * static_cast<float>(sum);
  if (!out.with_halves) return;
  const int32_t halves[2] = {reduce_add_i(first), sum - reduce_add_i(first)};
  for (size_t half = 0; half < 2; ++half) {
    out.half_starts4[2 * i + half] = -8 * halves[half];
    out.half_starts8[2 * i + half] = -128 * halves[half];
    out.half_scaled_sums[2 * i + half] = scale * static_cast<float>(halves[half]);
  }
}

void quantise(ConstMatrix x, const QuantisedRows& out, int block) {
  const int rows = out.rows_in_block(block);
  const size_t first = static_cast<size_t>(block) * kRowBlock * static_cast<size_t>(out.groups());
  for (int r = 0; r < rows; ++r) {
    const float* row = x.row(block * kRowBlock + r);
    for (int g = 0; g < out.groups(); ++g) {
      const size_t entry =
          first + static_cast<size_t>(g) * static_cast<size_t>(rows) + static_cast<size_t>(r);
      quantise_group(row + g * kQuantGroup, x.columns - g * kQuantGroup, out, entry);
    }
  }
}
