// y = x · weightᵀ on int8 activations and quantised weights. One group of weights is unpacked into registers
// and serves every row of the block; sums are exact integers within a group, f32 in the order of the groups
// across it.

template <int kBits, int kGroup, bool kHasOffset>
struct WeightGroup {
  static constexpr int kQuads = kGroup / 4;
  static constexpr int kCodeBytes = kGroup * kBits * kTileRows / 8;
  static constexpr int kBytes = kCodeBytes + kTileRows * 2 * (kHasOffset ? 2 : 1);

  U8x64 quads[kQuads];
  F32x16 scale;
  F32x16 offset;

  inline void unpack(const uint8_t* p) {
    if constexpr (kBits == 8) {
      for (int q = 0; q < kQuads; ++q) quads[q] = load_codes(p + 64 * q);
    } else {
      for (int q = 0; q < kQuads / 2; ++q) {
        const U8x64 both = load_codes(p + 64 * q);
        quads[q] = low_nibbles(both);
        quads[q + kQuads / 2] = high_nibbles(both);
      }
    }
    const uint16_t* scales = reinterpret_cast<const uint16_t*>(p + kCodeBytes);
    scale = load_f16(scales);
    if constexpr (kHasOffset) offset = load_f16(scales + kTileRows);
  }

  // acc + weights · x of one row of this group.
  inline F32x16 multiply(int zero_point, const QuantisedRows& x, size_t entry, int half, F32x16 acc) const {
    const int8_t* a = x.codes + entry * kQuantGroup + 16 * half;
    const int32_t sum = kGroup == 32 ? x.sums[entry] : x.half_sums[2 * entry + static_cast<size_t>(half)];
    I32x16 dot = kBits == 8 ? start_s8(sum) : set_i(-zero_point * sum);
    for (int q = 0; q < kQuads; ++q)
      dot = kBits == 8 ? dot_s8(dot, quads[q], a + 4 * q) : dot_u4(dot, quads[q], a + 4 * q);
    acc = fma(to_f32(dot), mul(scale, set(x.scales[entry])), acc);
    if constexpr (kHasOffset) {
      const float scaled =
          kGroup == 32 ? x.scaled_sums[entry] : x.scaled_half_sums[2 * entry + static_cast<size_t>(half)];
      acc = fma(offset, set(scaled), acc);
    }
    return acc;
  }
};

// acc is [rows of the block][16].
template <int kBits, int kGroup, bool kHasOffset>
void multiply_tile_int8(const uint8_t* tile, int zero_point, const QuantisedRows& x, int block, float* acc) {
  using Group = WeightGroup<kBits, kGroup, kHasOffset>;
  const size_t rows = static_cast<size_t>(x.rows_in_block(block));
  const size_t first = static_cast<size_t>(block) * kRowBlock * static_cast<size_t>(x.groups());
  const int groups = x.columns / kGroup;
  Group group;
  if (rows == 1) {  // decoding one sequence: the sum stays in a register
    F32x16 sum = set(0.f);
    for (int g = 0; g < groups; ++g) {
      group.unpack(tile + static_cast<size_t>(g) * Group::kBytes);
      const int position = g * kGroup;
      sum =
          group.multiply(zero_point, x, first + static_cast<size_t>(position / 32), position % 32 / 16, sum);
    }
    store(acc, sum);
    return;
  }
  for (size_t r = 0; r < rows; ++r) store(acc + r * kTileRows, set(0.f));
  for (int g = 0; g < groups; ++g) {
    group.unpack(tile + static_cast<size_t>(g) * Group::kBytes);
    const int position = g * kGroup;
    const size_t entry = first + static_cast<size_t>(position / 32) * rows;
    for (size_t r = 0; r < rows; ++r) {
      float* sum = acc + r * kTileRows;
      store(sum, group.multiply(zero_point, x, entry + r, position % 32 / 16, load(sum)));
    }
  }
}

using MultiplyTileInt8 = void (*)(const uint8_t* tile, int zero_point, const QuantisedRows& x, int block,
                                  float* acc);

inline MultiplyTileInt8 choose_multiply_int8(const PackedFormat& format) {
  const bool wide = format.group == 32;
  if (format.bits == 4) {
    if (format.has_offset) return wide ? multiply_tile_int8<4, 32, true> : multiply_tile_int8<4, 16, true>;
    return wide ? multiply_tile_int8<4, 32, false> : multiply_tile_int8<4, 16, false>;
  }
  if (format.has_offset) return wide ? multiply_tile_int8<8, 32, true> : multiply_tile_int8<8, 16, true>;
  return wide ? multiply_tile_int8<8, 32, false> : multiply_tile_int8<8, 16, false>;
}

// Writes the sums of one tile and one block of rows where they belong.
inline void store_tile(const PackedMatrix& weight, int tile, int first_row, int rows, const float* acc,
                       Matrix y, Store how) {
  const int column = tile * kTileRows;
  const int count = weight.rows - column < kTileRows ? weight.rows - column : kTileRows;
  const bool scaled = !weight.row_multipliers.empty();
  const F32x16 multiplier = scaled ? load(weight.row_multipliers.data() + column) : set(1.f);
  for (int r = 0; r < rows; ++r) {
    float* out = y.row(first_row + r) + column;
    F32x16 sum = load(acc + r * kTileRows);
    if (scaled) sum = mul(sum, multiplier);
    if (how == Store::kAdd) sum = add(sum, load_n(out, count));
    store_n(out, sum, count);
  }
}

void linear_int8(const PackedMatrix& weight, const QuantisedRows& x, int begin, int end, Matrix y,
                 Store how) {
  const MultiplyTileInt8 multiply = choose_multiply_int8(weight.format);
  alignas(64) float acc[kRowBlock * kTileRows];
  const int blocks = (x.rows + kRowBlock - 1) / kRowBlock;
  for (int tile = begin; tile < end; ++tile) {
    for (int block = 0; block < blocks; ++block) {
      multiply(weight.tile(tile), weight.format.zero_point, x, block, acc);
      store_tile(weight, tile, block * kRowBlock, x.rows_in_block(block), acc, y, how);
    }
  }
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
  const int32_t sums[2] = {reduce_add_i(first), reduce_add_i(second)};
  out.scales[i] = scale;
  out.sums[i] = sums[0] + sums[1];
  out.scaled_sums[i] = scale * static_cast<float>(sums[0] + sums[1]);
  for (size_t half = 0; half < 2; ++half) {
    out.half_sums[2 * i + half] = sums[half];
    out.scaled_half_sums[2 * i + half] = scale * static_cast<float>(sums[half]);
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
