// y = x · weightᵀ on f32 (or bf16-rounded) activations. Each output sums its products in the order of k.

template <WeightEncoding kEncoding>
inline constexpr size_t kElementBytes = kEncoding == WeightEncoding::kF32 ? 4 : 2;

// Weights [k, k + kCount) of the tile's 16 rows; kCount is even.
template <WeightEncoding kEncoding, int kCount>
inline void load_weights(const uint8_t* tile, int k, F32x16* w) {
  const uint8_t* p = tile + static_cast<size_t>(k) * kTileRows * kElementBytes<kEncoding>;
  for (int i = 0; i < kCount; i += 2) {
    if constexpr (kEncoding == WeightEncoding::kBF16) {
      load_bf16_pairs(reinterpret_cast<const uint16_t*>(p) + i * kTileRows, w[i], w[i + 1]);
    } else if constexpr (kEncoding == WeightEncoding::kF16) {
      w[i] = load_f16(reinterpret_cast<const uint16_t*>(p) + i * kTileRows);
      w[i + 1] = load_f16(reinterpret_cast<const uint16_t*>(p) + (i + 1) * kTileRows);
    } else {
      w[i] = load(reinterpret_cast<const float*>(p) + i * kTileRows);
      w[i + 1] = load(reinterpret_cast<const float*>(p) + (i + 1) * kTileRows);
    }
  }
}

// The last columns when their number is odd: packed matrices are padded to an even one.
template <WeightEncoding kEncoding>
inline F32x16 load_last_weight(const uint8_t* tile, int k) {
  F32x16 w[2];
  load_weights<kEncoding, 2>(tile, k, w);
  return w[0];
}

// Where registers are few: the sums lie in memory, [rows][16], and a chunk of weights in registers meets all
// rows.
template <WeightEncoding kEncoding>
void multiply_tile_float(const uint8_t* tile, ConstMatrix x, int first_row, int rows, float* acc) {
  for (int r = 0; r < rows; ++r) store(acc + r * kTileRows, set(0.f));
  F32x16 w[kFloatChunk];
  int k = 0;
  for (; k + kFloatChunk <= x.columns; k += kFloatChunk) {
    load_weights<kEncoding, kFloatChunk>(tile, k, w);
    for (int r = 0; r < rows; ++r) {
      const float* a = x.row(first_row + r) + k;
      F32x16 sum = load(acc + r * kTileRows);
      for (int i = 0; i < kFloatChunk; ++i) sum = fma(w[i], set(a[i]), sum);
      store(acc + r * kTileRows, sum);
    }
  }
  for (; k < x.columns; k += 2) {
    const bool pair = k + 1 < x.columns;
    load_weights<kEncoding, 2>(tile, k, w);
    for (int r = 0; r < rows; ++r) {
      const float* a = x.row(first_row + r) + k;
      F32x16 sum = fma(w[0], set(a[0]), load(acc + r * kTileRows));
      if (pair) sum = fma(w[1], set(a[1]), sum);
      store(acc + r * kTileRows, sum);
    }
  }
}

// Where they are many: the sums of kRows rows from `first_row` on and kTiles tiles lie in registers. A
// weight, once loaded, serves all rows, and a broadcast of x, of which a core does few, all tiles. acc is
// [kRows][kTiles][16].
template <WeightEncoding kEncoding, int kRows, int kTiles>
void multiply_block_float(const PackedMatrix& weight, int first_tile, ConstMatrix x, int first_row,
                          float* acc) {
  const uint8_t* tiles[kTiles];
  for (int t = 0; t < kTiles; ++t) tiles[t] = weight.tile(first_tile + t);
  const float* a = x.row(first_row);
  F32x16 sums[kRows][kTiles];
  for (int r = 0; r < kRows; ++r) {
    for (int t = 0; t < kTiles; ++t) sums[r][t] = set(0.f);
  }
  int k = 0;
  for (; k + 2 <= x.columns; k += 2) {
    F32x16 w[kTiles][2];
    for (int t = 0; t < kTiles; ++t) load_weights<kEncoding, 2>(tiles[t], k, w[t]);
    for (int r = 0; r < kRows; ++r) {
      const F32x16 even = set(a[r * x.stride + k]), odd = set(a[r * x.stride + k + 1]);
      for (int t = 0; t < kTiles; ++t) sums[r][t] = fma(w[t][1], odd, fma(w[t][0], even, sums[r][t]));
    }
  }
  if (k < x.columns) {
    for (int t = 0; t < kTiles; ++t) {
      const F32x16 w = load_last_weight<kEncoding>(tiles[t], k);
      for (int r = 0; r < kRows; ++r) sums[r][t] = fma(w, set(a[r * x.stride + k]), sums[r][t]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int t = 0; t < kTiles; ++t) store(acc + (r * kTiles + t) * kTileRows, sums[r][t]);
  }
}

// One row against four tiles at a time: four independent sums hide the latency of the additions.
template <WeightEncoding kEncoding>
void multiply_row_float(const PackedMatrix& weight, const float* x, int columns, int begin, int count,
                        float* acc) {
  const uint8_t* tiles[4];
  F32x16 sums[4];
  for (int t = 0; t < 4; ++t) {
    tiles[t] = weight.tile(begin + (t < count ? t : 0));
    sums[t] = set(0.f);
  }
  F32x16 w[2];
  int k = 0;
  for (; k + 2 <= columns; k += 2) {
    for (int t = 0; t < 4; ++t) {
      load_weights<kEncoding, 2>(tiles[t], k, w);
      sums[t] = fma(w[1], set(x[k + 1]), fma(w[0], set(x[k]), sums[t]));
    }
  }
  if (k < columns) {
    for (int t = 0; t < 4; ++t) sums[t] = fma(load_last_weight<kEncoding>(tiles[t], k), set(x[k]), sums[t]);
  }
  for (int t = 0; t < count; ++t) store(acc + t * kTileRows, sums[t]);
}

// All rows from `row` on, kRows at a time as long as there are so many, then half of that.
template <WeightEncoding kEncoding, int kRows, int kTiles>
void multiply_rows_float(const PackedMatrix& weight, int tile, ConstMatrix x, int row, Matrix y, Store how) {
  alignas(64) float acc[kRows * kTiles * kTileRows];
  for (; row + kRows <= x.rows; row += kRows) {
    multiply_block_float<kEncoding, kRows, kTiles>(weight, tile, x, row, acc);
    for (int t = 0; t < kTiles; ++t)
      store_tile(weight, tile + t, row, kRows, acc + t * kTileRows, kTiles * kTileRows, y, how);
  }
  if constexpr (kRows > 1) {
    if (row < x.rows) multiply_rows_float<kEncoding, kRows / 2, kTiles>(weight, tile, x, row, y, how);
  }
}

template <WeightEncoding kEncoding>
void multiply_all_float(const PackedMatrix& weight, ConstMatrix x, int begin, int end, Matrix y, Store how) {
  if constexpr (kFloatTiles > 1) {
    int tile = begin;
    for (; tile + kFloatTiles <= end; tile += kFloatTiles)
      multiply_rows_float<kEncoding, kFloatRows, kFloatTiles>(weight, tile, x, 0, y, how);
    for (; tile < end; ++tile) multiply_rows_float<kEncoding, kFloatRows, 1>(weight, tile, x, 0, y, how);
  } else {
    alignas(64) float acc[kRowBlock * kTileRows];
    for (int tile = begin; tile < end; ++tile) {
      for (int row = 0; row < x.rows; row += kRowBlock) {
        const int rows = x.rows - row < kRowBlock ? x.rows - row : kRowBlock;
        multiply_tile_float<kEncoding>(weight.tile(tile), x, row, rows, acc);
        store_tile(weight, tile, row, rows, acc, kTileRows, y, how);
      }
    }
  }
}

template <WeightEncoding kEncoding>
void linear_float_as(const PackedMatrix& weight, ConstMatrix x, int begin, int end, Matrix y, Store how) {
  if (x.rows > 1) return multiply_all_float<kEncoding>(weight, x, begin, end, y, how);
  alignas(64) float acc[4 * kTileRows];
  for (int tile = begin; tile < end; tile += 4) {
    const int count = end - tile < 4 ? end - tile : 4;
    multiply_row_float<kEncoding>(weight, x.row(0), x.columns, tile, count, acc);
    for (int t = 0; t < count; ++t)
      store_tile(weight, tile + t, 0, 1, acc + t * kTileRows, kTileRows, y, how);
  }
}

void linear_float(const PackedMatrix& weight, ConstMatrix x, int begin, int end, Matrix y, Store how) {
  switch (weight.format.encoding) {
    case WeightEncoding::kF32:
      return linear_float_as<WeightEncoding::kF32>(weight, x, begin, end, y, how);
    case WeightEncoding::kF16:
      return linear_float_as<WeightEncoding::kF16>(weight, x, begin, end, y, how);
    case WeightEncoding::kBF16:
      return linear_float_as<WeightEncoding::kBF16>(weight, x, begin, end, y, how);
    case WeightEncoding::kQuantised:
      return;  // CpuCompute::linear checks
  }
}

void round_row_to_bf16(const float* x, float* y, int count) {
  for (int i = 0; i < count; i += 16) store_n(y + i, round_to_bf16(load_n(x + i, count - i)), count - i);
}
