#include "engine/logit_row.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

// The bodies below are written over vectors of one register's size and compiled twice on x86-64: for the
// baseline, of 16 bytes, and for AVX2. Sums and maxima are kept in 16 lanes either way, and nothing is fused,
// so both give the same bits.
#define PAGODA_ROW_BODY inline __attribute__((always_inline))
#pragma GCC diagnostic ignored "-Wpsabi"  // no vector crosses a call that is not inlined

namespace pagoda::engine {

namespace {

constexpr size_t kLanes = 16;
static_assert(kRowChunk % kLanes == 0);
constexpr float kLowest = -std::numeric_limits<float>::infinity();

template <size_t kBytes>
struct Register {
  typedef float Floats __attribute__((vector_size(kBytes)));
  typedef int32_t Words __attribute__((vector_size(kBytes)));
  static constexpr size_t kSize = kBytes / sizeof(float);
  static constexpr size_t kParts = kLanes / kSize;  // registers that hold the 16 lanes

  static PAGODA_ROW_BODY Floats load(const float* from) {
    Floats floats;
    std::memcpy(&floats, from, sizeof floats);
    return floats;
  }
  static PAGODA_ROW_BODY Floats all(float value) { return Floats{} + value; }
};

struct Larger {
  PAGODA_ROW_BODY auto operator()(const auto& a, const auto& b) const { return a > b ? a : b; }
};
struct Sum {
  PAGODA_ROW_BODY auto operator()(const auto& a, const auto& b) const { return a + b; }
};

// Lanes l and l + 8 first, then l and l + 4, and so on.
template <class Floats, size_t kParts, class Operation>
PAGODA_ROW_BODY float fold(const Floats (&parts)[kParts], Operation operation) {
  typedef float Quad __attribute__((vector_size(16)));
  Quad quads[4];
  std::memcpy(quads, parts, sizeof quads);
  const Quad last = operation(operation(quads[0], quads[2]), operation(quads[1], quads[3]));
  return operation(operation(last[0], last[2]), operation(last[1], last[3]));
}

// 2^t for t <= 0. The polynomial is a minimax fit of 2^f on [-1/2, 1/2] (relative error 1.5e-7 in float); the
// whole part goes into the exponent by way of the constant 1.5 · 2^23, which rounds to nearest.
template <class R>
PAGODA_ROW_BODY typename R::Floats exp2_of(typename R::Floats t) {
  using Floats = typename R::Floats;
  using Words = typename R::Words;
  const Floats round = R::all(12582912.f);
  const Floats clamped = t > -126.f ? t : R::all(-126.f);
  const Floats shifted = clamped + round;
  const Floats f = clamped - (shifted - round);
  Floats p = R::all(0.00132764718f);
  p = p * f + 0.00967554133f;
  p = p * f + 0.0555071327f;
  p = p * f + 0.240221197f;
  p = p * f + 0.693146967f;
  p = p * f + 1.f;
  const Words value = std::bit_cast<Words>(p) + (std::bit_cast<Words>(shifted) << 23);
  return t > -125.f ? std::bit_cast<Floats>(value) : Floats{};
}

template <class R>
PAGODA_ROW_BODY RowScan scan_body(const float* row, size_t n, float* maxima) {
  typename R::Floats nan[R::kParts] = {};
  typename R::Floats most[R::kParts], lanes[R::kParts];
  for (auto& part : most) part = R::all(kLowest);
  size_t i = 0;
  for (; i + kRowChunk <= n; i += kRowChunk) {
    for (auto& part : lanes) part = R::all(kLowest);
    for (size_t j = i; j < i + kRowChunk; j += kLanes) {
      for (size_t part = 0; part < R::kParts; ++part) {
        const auto x = R::load(row + j + part * R::kSize);
        nan[part] = x == x ? nan[part] : x;
        lanes[part] = x > lanes[part] ? x : lanes[part];
      }
    }
    maxima[i / kRowChunk] = fold(lanes, Larger{});
    for (size_t part = 0; part < R::kParts; ++part)
      most[part] = lanes[part] > most[part] ? lanes[part] : most[part];
  }
  float whole = fold(most, Larger{});
  bool any = false;
  for (const auto& part : nan) {
    for (size_t l = 0; l < R::kSize; ++l) any = any || part[l] != 0;
  }
  if (i < n) {
    float last = kLowest;
    for (size_t j = i; j < n; ++j) {
      last = Larger{}(row[j], last);
      any = any || row[j] != row[j];
    }
    maxima[i / kRowChunk] = last;
    whole = Larger{}(last, whole);
  }
  return {whole, any};
}

template <class R>
PAGODA_ROW_BODY void weigh_body(const float* row, size_t n, float max, float scale, float* weights,
                                float* sums) {
  size_t i = 0;
  for (; i + kRowChunk <= n; i += kRowChunk) {
    typename R::Floats sum[R::kParts] = {};
    for (size_t j = i; j < i + kRowChunk; j += kLanes) {
      for (size_t part = 0; part < R::kParts; ++part) {
        const size_t at = j + part * R::kSize;
        const auto weight = exp2_of<R>((R::load(row + at) - max) * scale);
        std::memcpy(weights + at, &weight, sizeof weight);
        sum[part] += weight;
      }
    }
    sums[i / kRowChunk] = fold(sum, Sum{});
  }
  if (i == n) return;
  float sum = 0;
  for (size_t j = i; j < n; ++j) {
    weights[j] = weight_of(row[j], max, scale);
    sum += weights[j];
  }
  sums[i / kRowChunk] = sum;
}

template <class R>
PAGODA_ROW_BODY int count_body(const float* row, size_t n, float value) {
  typename R::Words counts = {};
  size_t i = 0;
  for (; i + R::kSize <= n; i += R::kSize)
    counts += R::load(row + i) >= value ? typename R::Words{} + 1 : typename R::Words{};
  int count = 0;
  for (size_t l = 0; l < R::kSize; ++l) count += counts[l];
  for (; i < n; ++i) count += static_cast<int>(row[i] >= value);
  return count;
}

using Baseline = Register<16>;
using Avx2 = Register<32>;
using Avx512 = Register<64>;

#define PAGODA_ROW_PASSES(name, target_, R)                                                     \
  target_ RowScan name##_scan(const float* row, size_t n, float* maxima) {                      \
    return scan_body<R>(row, n, maxima);                                                        \
  }                                                                                             \
  target_ void name##_weigh(const float* row, size_t n, float max, float scale, float* weights, \
                            float* sums) {                                                      \
    weigh_body<R>(row, n, max, scale, weights, sums);                                           \
  }                                                                                             \
  target_ int name##_count(const float* row, size_t n, float value) {                           \
    return count_body<R>(row, n, value);                                                        \
  }                                                                                             \
  constexpr RowPasses k##R##Passes = {#name, name##_scan, name##_weigh, name##_count};

PAGODA_ROW_PASSES(baseline, , Baseline)
#if defined(__x86_64__)
PAGODA_ROW_PASSES(avx2, __attribute__((target("avx2"))), Avx2)
PAGODA_ROW_PASSES(avx512, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), Avx512)
#endif

std::vector<RowPasses> supported_passes() {
  std::vector<RowPasses> passes;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq")) {
    passes.push_back(kAvx512Passes);
  }
  if (__builtin_cpu_supports("avx2")) passes.push_back(kAvx2Passes);
#endif
  passes.push_back(kBaselinePasses);
  return passes;
}

const RowPasses& passes() {
  return row_passes().front();
}

}  // namespace

std::span<const RowPasses> row_passes() {
  static const std::vector<RowPasses> kSupported = supported_passes();
  return kSupported;
}

RowScan scan_row(std::span<const float> row, std::span<float> maxima) {
  return passes().scan(row.data(), row.size(), maxima.data());
}

int32_t first_of(std::span<const float> row, std::span<const float> maxima, float max) {
  for (size_t chunk = 0; chunk < maxima.size(); ++chunk) {
    if (maxima[chunk] != max) continue;
    for (size_t i = chunk * kRowChunk;; ++i) {
      if (row[i] == max) return static_cast<int32_t>(i);
    }
  }
  return -1;
}

void weigh_row(std::span<const float> row, float max, float scale, std::span<float> weights,
               std::span<float> sums) {
  passes().weigh(row.data(), row.size(), max, scale, weights.data(), sums.data());
}

int count_at_least(std::span<const float> row, float value) {
  return passes().count(row.data(), row.size(), value);
}

void mask_row(std::span<float> row, std::span<const uint32_t> mask) {
  for (size_t word = 0; word * 32 < row.size(); ++word) {
    const uint32_t bits = word < mask.size() ? mask[word] : 0;
    if (bits == ~0u) continue;
    const size_t end = std::min(row.size(), word * 32 + 32);
    for (size_t i = word * 32; i < end; ++i) {
      if ((bits >> (i % 32) & 1u) == 0) row[i] = kLowest;
    }
  }
}

float weight_of(float logit, float max, float scale) {
  const Baseline::Floats weights = exp2_of<Baseline>(Baseline::all((logit - max) * scale));
  return weights[0];
}

}  // namespace pagoda::engine
