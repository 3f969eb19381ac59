// The vector types on AVX-512 (F, BW, DQ, VL, VNNI). Included inside the row's namespace and target region;
// vec_scalar.h says what each function means.

struct F32x16 {
  __m512 v;
};
struct I32x16 {
  __m512i v;
};
struct U8x64 {
  __m512i v;
};

constexpr int kFloatChunk = 16;
constexpr int kFloatRows = 8;
constexpr int kFloatTiles = 3;
constexpr int kInt8Tiles = 2;
constexpr int kQueries = 4;

inline F32x16 set(float value) {
  return {_mm512_set1_ps(value)};
}
inline __mmask16 first_lanes(int n) {
  return static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1);
}
inline F32x16 load(const float* p) {
  return {_mm512_loadu_ps(p)};
}
inline F32x16 load_n(const float* p, int n) {
  return {_mm512_maskz_loadu_ps(first_lanes(n), p)};
}
inline void store(float* p, F32x16 a) {
  _mm512_storeu_ps(p, a.v);
}
inline void store_n(float* p, F32x16 a, int n) {
  _mm512_mask_storeu_ps(p, first_lanes(n), a.v);
}
inline F32x16 load_f16(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
inline F32x16 load_bf16(const uint16_t* p) {
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
}
inline void load_bf16_pairs(const uint16_t* p, F32x16& first, F32x16& second) {
  const __m512i pairs = _mm512_loadu_si512(p);
  first.v = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
  second.v = _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
}
inline __m512i bf16_bits(F32x16 a) {
  const __m512i bits = _mm512_castps_si512(a.v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded =
      _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd), 16);
  const __m512i quiet = _mm512_or_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(0x40));
  return _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q), quiet);
}
inline void store_bf16(uint16_t* p, F32x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(bf16_bits(a)));
}
inline F32x16 round_to_bf16(F32x16 a) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(bf16_bits(a), 16))};
}

inline F32x16 add(F32x16 a, F32x16 b) {
  return {_mm512_add_ps(a.v, b.v)};
}
inline F32x16 sub(F32x16 a, F32x16 b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
inline F32x16 mul(F32x16 a, F32x16 b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
inline F32x16 div(F32x16 a, F32x16 b) {
  return {_mm512_div_ps(a.v, b.v)};
}
inline F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
inline F32x16 max(F32x16 a, F32x16 b) {
  return {_mm512_max_ps(a.v, b.v)};
}
inline F32x16 min(F32x16 a, F32x16 b) {
  return {_mm512_min_ps(a.v, b.v)};
}
inline F32x16 zero_where_less(F32x16 a, F32x16 b, float bound) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(b.v, _mm512_set1_ps(bound), _CMP_NLT_UQ), a.v)};
}
inline F32x16 abs(F32x16 a) {
  return {_mm512_abs_ps(a.v)};
}
inline F32x16 keep_range(F32x16 a, int begin, int end, float fill) {
  const __mmask16 keep =
      static_cast<__mmask16>(first_lanes(end < 0 ? 0 : end) & ~first_lanes(begin < 0 ? 0 : begin));
  return {_mm512_mask_blend_ps(keep, _mm512_set1_ps(fill), a.v)};
}
inline float reduce_add(F32x16 a) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
inline float reduce_max(F32x16 a) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}

inline I32x16 set_i(int32_t value) {
  return {_mm512_set1_epi32(value)};
}
inline I32x16 add_i(I32x16 a, I32x16 b) {
  return {_mm512_add_epi32(a.v, b.v)};
}
inline int32_t reduce_add_i(I32x16 a) {
  return _mm512_reduce_add_epi32(a.v);
}
inline F32x16 to_f32(I32x16 a) {
  return {_mm512_cvtepi32_ps(a.v)};
}
inline I32x16 to_i32(F32x16 a) {
  return {_mm512_cvtps_epi32(a.v)};
}
inline F32x16 load_i8(const int8_t* p) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}
inline void store_i8(int8_t* p, I32x16 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a.v));
}
inline F32x16 load_i8(const uint8_t* p, int bias) {
  const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return {_mm512_cvtepi32_ps(_mm512_sub_epi32(wide, _mm512_set1_epi32(bias)))};
}
inline F32x16 scale_by_power(F32x16 a, I32x16 n) {
  const __m512i bits = _mm512_slli_epi32(_mm512_add_epi32(n.v, _mm512_set1_epi32(127)), 23);
  return {_mm512_mul_ps(a.v, _mm512_castsi512_ps(bits))};
}

inline U8x64 load_codes(const uint8_t* p) {
  return {_mm512_loadu_si512(p)};
}
inline U8x64 low_nibbles(U8x64 a) {
  return {_mm512_and_si512(a.v, _mm512_set1_epi8(15))};
}
inline U8x64 high_nibbles(U8x64 a) {
  return {_mm512_and_si512(_mm512_srli_epi16(a.v, 4), _mm512_set1_epi8(15))};
}
inline __m512i broadcast_quad(const int8_t* a) {
  int32_t quad;
  __builtin_memcpy(&quad, a, 4);
  return _mm512_set1_epi32(quad);
}
inline I32x16 dot_u4(I32x16 acc, U8x64 w, const int8_t* a) {
  return {_mm512_dpbusd_epi32(acc.v, w.v, broadcast_quad(a))};
}
// vpdpbusd reads the codes as unsigned: what the bias of 128 adds is taken off up front.
inline I32x16 start_s8(int32_t start) {
  return set_i(start);
}
inline I32x16 dot_s8(I32x16 acc, U8x64 w, const int8_t* a) {
  return dot_u4(acc, w, a);
}
