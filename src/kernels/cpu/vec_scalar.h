// The vector types, one lane after the other. This is the reference that the others are tested against, and
// what runs where no faster row is supported. Included inside the row's namespace.

struct F32x16 {
  float lane[16];
};
struct I32x16 {
  int32_t lane[16];
};
struct U8x64 {
  uint8_t byte[64];
};

// linear_float keeps kFloatChunk weights a row in registers, or with several tiles the sums of kFloatRows
// rows.
constexpr int kFloatChunk = 8;
constexpr int kFloatRows = 1;
constexpr int kFloatTiles = 1;
constexpr int kInt8Tiles = 1;  // tiles that linear_int8 multiplies at once
constexpr int kQueries = 1;    // queries that attention keeps in registers at once

inline F32x16 set(float value) {
  F32x16 v;
  for (float& x : v.lane) x = value;
  return v;
}
inline F32x16 load_n(const float* p, int n) {
  F32x16 v;
  for (int i = 0; i < 16; ++i) v.lane[i] = i < n ? p[i] : 0.f;
  return v;
}
inline F32x16 load(const float* p) {
  return load_n(p, 16);
}
inline void store_n(float* p, F32x16 v, int n) {
  for (int i = 0; i < 16 && i < n; ++i) p[i] = v.lane[i];
}
inline void store(float* p, F32x16 v) {
  store_n(p, v, 16);
}
inline F32x16 load_f16(const uint16_t* p) {
  F32x16 v;
  for (int i = 0; i < 16; ++i) v.lane[i] = f16_to_f32(p[i]);
  return v;
}
inline F32x16 load_bf16(const uint16_t* p) {
  F32x16 v;
  for (int i = 0; i < 16; ++i) v.lane[i] = bf16_to_f32(p[i]);
  return v;
}
// 16 pairs: first[i] = p[2i], second[i] = p[2i + 1].
inline void load_bf16_pairs(const uint16_t* p, F32x16& first, F32x16& second) {
  for (int i = 0; i < 16; ++i) {
    first.lane[i] = bf16_to_f32(p[2 * i]);
    second.lane[i] = bf16_to_f32(p[2 * i + 1]);
  }
}
inline void store_bf16(uint16_t* p, F32x16 v) {
  for (int i = 0; i < 16; ++i) p[i] = f32_to_bf16(v.lane[i]);
}
inline F32x16 round_to_bf16(F32x16 v) {
  for (float& x : v.lane) x = bf16_to_f32(f32_to_bf16(x));
  return v;
}

inline F32x16 add(F32x16 a, F32x16 b) {
  for (int i = 0; i < 16; ++i) a.lane[i] = a.lane[i] + b.lane[i];
  return a;
}
inline F32x16 sub(F32x16 a, F32x16 b) {
  for (int i = 0; i < 16; ++i) a.lane[i] = a.lane[i] - b.lane[i];
  return a;
}
inline F32x16 mul(F32x16 a, F32x16 b) {
  for (int i = 0; i < 16; ++i) a.lane[i] = a.lane[i] * b.lane[i];
  return a;
}
inline F32x16 div(F32x16 a, F32x16 b) {
  for (int i = 0; i < 16; ++i) a.lane[i] = a.lane[i] / b.lane[i];
  return a;
}
// a · b + c, rounded once.
inline F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  for (int i = 0; i < 16; ++i) a.lane[i] = __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]);
  return a;
}
// The second operand where either is NaN, as x86 does.
inline F32x16 max(F32x16 a, F32x16 b) {
  for (int i = 0; i < 16; ++i) a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
  return a;
}
inline F32x16 min(F32x16 a, F32x16 b) {
  for (int i = 0; i < 16; ++i) a.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
  return a;
}
// a, but 0 where b is less than bound.
inline F32x16 zero_where_less(F32x16 a, F32x16 b, float bound) {
  for (int i = 0; i < 16; ++i) a.lane[i] = b.lane[i] < bound ? 0.f : a.lane[i];
  return a;
}
inline F32x16 abs(F32x16 a) {
  for (float& x : a.lane) x = __builtin_fabsf(x);
  return a;
}
// Lanes [begin, end) of a, `fill` elsewhere.
inline F32x16 keep_range(F32x16 a, int begin, int end, float fill) {
  for (int i = 0; i < 16; ++i) a.lane[i] = i >= begin && i < end ? a.lane[i] : fill;
  return a;
}
// Halves added to halves: the order of every row's reductions.
inline float reduce_add(F32x16 v) {
  for (int step = 8; step > 0; step /= 2)
    for (int i = 0; i < step; ++i) v.lane[i] = v.lane[i] + v.lane[i + step];
  return v.lane[0];
}
inline float reduce_max(F32x16 v) {
  for (int step = 8; step > 0; step /= 2)
    for (int i = 0; i < step; ++i) v.lane[i] = v.lane[i] > v.lane[i + step] ? v.lane[i] : v.lane[i + step];
  return v.lane[0];
}

inline I32x16 set_i(int32_t value) {
  I32x16 v;
  for (int32_t& x : v.lane) x = value;
  return v;
}
inline I32x16 add_i(I32x16 a, I32x16 b) {
  for (int i = 0; i < 16; ++i) a.lane[i] += b.lane[i];
  return a;
}
inline int32_t reduce_add_i(I32x16 v) {
  int32_t sum = 0;
  for (int32_t x : v.lane) sum += x;
  return sum;
}
inline F32x16 to_f32(I32x16 v) {
  F32x16 out;
  for (int i = 0; i < 16; ++i) out.lane[i] = static_cast<float>(v.lane[i]);
  return out;
}
// To nearest, ties to even; |v| < 2^31.
inline I32x16 to_i32(F32x16 v) {
  I32x16 out;
  for (int i = 0; i < 16; ++i) out.lane[i] = static_cast<int32_t>(__builtin_rintf(v.lane[i]));
  return out;
}
inline F32x16 load_i8(const int8_t* p) {
  F32x16 v;
  for (int i = 0; i < 16; ++i) v.lane[i] = static_cast<float>(p[i]);
  return v;
}
inline void store_i8(int8_t* p, I32x16 v) {
  for (int i = 0; i < 16; ++i) p[i] = static_cast<int8_t>(v.lane[i]);
}
inline F32x16 load_i8(const uint8_t* p, int bias) {
  F32x16 out;
  for (int i = 0; i < 16; ++i) out.lane[i] = static_cast<float>(static_cast<int>(p[i]) - bias);
  return out;
}
// v · 2^n, n in [-126, 127]
inline F32x16 scale_by_power(F32x16 v, I32x16 n) {
  for (int i = 0; i < 16; ++i) v.lane[i] = v.lane[i] * std::bit_cast<float>((n.lane[i] + 127) << 23);
  return v;
}

inline U8x64 load_codes(const uint8_t* p) {
  U8x64 v;
  for (int i = 0; i < 64; ++i) v.byte[i] = p[i];
  return v;
}
inline U8x64 low_nibbles(U8x64 v) {
  for (uint8_t& x : v.byte) x &= 15;
  return v;
}
inline U8x64 high_nibbles(U8x64 v) {
  for (uint8_t& x : v.byte) x >>= 4;
  return v;
}
// acc[row] += sum over i < 4 of w[row][i] · a[i], exactly. Codes below 16:
inline I32x16 dot_u4(I32x16 acc, U8x64 w, const int8_t* a) {
  for (int row = 0; row < 16; ++row)
    for (int i = 0; i < 4; ++i) acc.lane[row] += w.byte[4 * row + i] * a[i];
  return acc;
}
// Codes that stand for code − 128. `start` is −128 · sum of the row, for those that multiply the codes as
// they are.
inline I32x16 start_s8(int32_t) {
  return set_i(0);
}
inline I32x16 dot_s8(I32x16 acc, U8x64 w, const int8_t* a) {
  for (int row = 0; row < 16; ++row)
    for (int i = 0; i < 4; ++i) acc.lane[row] += (w.byte[4 * row + i] - 128) * a[i];
  return acc;
}
