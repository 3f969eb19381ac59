// The ops that touch each element once, and the exponential that they share with attention.

// e^x for every finite x, 0 below -87.3, NaN for NaN. Range reduction by ln 2 in two parts (Cody and Waite),
// then a degree-6 polynomial (Remez, |error| < 2 ulp).
inline F32x16 exp(F32x16 x) {
  constexpr float kLowest = -87.3f;
  const F32x16 bounded = min(set(88.3f), max(set(kLowest), x));
  const I32x16 n = to_i32(mul(bounded, set(1.44269504f)));
  const F32x16 whole = to_f32(n);
  F32x16 r = fma(whole, set(-0.693359375f), bounded);
  r = fma(whole, set(2.12194440e-4f), r);
  F32x16 p = set(1.3888949e-3f);
  p = fma(p, r, set(8.3333310e-3f));
  p = fma(p, r, set(4.1666664e-2f));
  p = fma(p, r, set(1.6666667e-1f));
  p = fma(p, r, set(0.5f));
  p = fma(p, r, set(1.f));
  p = fma(p, r, set(1.f));
  return zero_where_less(scale_by_power(p, n), x, kLowest);
}

void rms_norm(const float* x, int count, const float* weight, float epsilon, float* y) {
  F32x16 squares = set(0.f);
  for (int i = 0; i < count; i += 16) {
    const F32x16 v = load_n(x + i, count - i);
    squares = fma(v, v, squares);
  }
  const float mean = reduce_add(squares) / static_cast<float>(count);
  const F32x16 scale = set(1.f / __builtin_sqrtf(mean + epsilon));
  for (int i = 0; i < count; i += 16) {
    const F32x16 scaled = mul(load_n(x + i, count - i), scale);
    store_n(y + i, mul(scaled, load_n(weight + i, count - i)), count - i);
  }
}

void rope(float* head, const float* cosines, const float* sines, int dims, RopePairs pairs) {
  const int half = dims / 2;
  const int step = pairs == RopePairs::kInterleaved ? 2 : 1;
  const int partner = pairs == RopePairs::kInterleaved ? 1 : half;
  for (int i = 0; i < half; ++i) {
    const float a = head[i * step];
    const float b = head[i * step + partner];
    head[i * step] = a * cosines[i] - b * sines[i];
    head[i * step + partner] = b * cosines[i] + a * sines[i];
  }
}

void silu_multiply(const float* gate, const float* up, float* y, int count) {
  for (int i = 0; i < count; i += 16) {
    const F32x16 g = load_n(gate + i, count - i);
    const F32x16 silu = div(g, add(set(1.f), exp(sub(set(0.f), g))));
    store_n(y + i, mul(silu, load_n(up + i, count - i)), count - i);
  }
}

// gelu's tanh form: 0.5·x·(1 + tanh(u)) = x / (1 + e^(-2u)), u = sqrt(2/π)·(x + 0.044715·x³).
void gelu_multiply(const float* gate, const float* up, float* y, int count) {
  for (int i = 0; i < count; i += 16) {
    const F32x16 g = load_n(gate + i, count - i);
    const F32x16 cubic = fma(mul(mul(g, g), g), set(0.044715f), g);
    const F32x16 gelu = div(g, add(set(1.f), exp(mul(cubic, set(-2.f * 0.79788456f)))));
    store_n(y + i, mul(gelu, load_n(up + i, count - i)), count - i);
  }
}

void add_rows(const float* x, float* y, int count) {
  for (int i = 0; i < count; i += 16)
    store_n(y + i, add(load_n(y + i, count - i), load_n(x + i, count - i)), count - i);
}
