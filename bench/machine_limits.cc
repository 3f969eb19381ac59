// What this machine can do at most, measured: memory read bandwidth and int8 multiply rate. Printed as JSON,
// to stand beside every figure of speed.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "tensor/buffer.h"

namespace pagoda {
namespace {

constexpr size_t kReadBytes = size_t{512} << 20;
constexpr int kRepeats = 7;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) int64_t sum_bytes(const std::byte* data, size_t bytes) {
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  for (size_t i = 0; i < bytes; i += 128) {
    const __m256i* p = reinterpret_cast<const __m256i*>(data + i);
    a = _mm256_add_epi64(a, _mm256_load_si256(p));
    b = _mm256_add_epi64(b, _mm256_load_si256(p + 1));
    c = _mm256_add_epi64(c, _mm256_load_si256(p + 2));
    d = _mm256_add_epi64(d, _mm256_load_si256(p + 3));
  }
  const __m256i sum = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
  return _mm256_extract_epi64(sum, 0);
}

// Multiply-adds of one call, counted as two operations each.
constexpr int64_t kVnniOperations = int64_t{16} * 64 * 2;

// Sixteen sums, unrolled by hand of the compiler: kept in memory, they would measure how fast sums go there
// and back.
__attribute__((target("avx512f,avx512vnni"))) int64_t vnni_loop(int64_t iterations) {
  __m512i sums[16];
  const __m512i u = _mm512_set1_epi8(3), s = _mm512_set1_epi8(5);
#pragma GCC unroll 16
  for (int j = 0; j < 16; ++j) sums[j] = _mm512_setzero_si512();
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < 16; ++j) {
      sums[j] = _mm512_dpbusd_epi32(sums[j], u, s);
      asm("" : "+v"(sums[j]));
    }
  }
  __m512i sum = sums[0];
#pragma GCC unroll 16
  for (int j = 1; j < 16; ++j) sum = _mm512_add_epi32(sum, sums[j]);
  alignas(64) int32_t lanes[16];
  _mm512_store_si512(lanes, sum);
  return lanes[0];
}
#endif

volatile int64_t g_sink;

double read_gb_per_s(ThreadPool& pool) {
  Buffer buffer(kReadBytes);
  std::fill_n(buffer.as<uint8_t>(), kReadBytes, uint8_t{1});
  std::vector<double> rates;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Stopwatch watch;
    pool.run([&](int worker) {
      const size_t part = kReadBytes / static_cast<size_t>(pool.size()) / 128 * 128;
      g_sink = sum_bytes(buffer.data() + static_cast<size_t>(worker) * part, part);
    });
    rates.push_back(static_cast<double>(kReadBytes) / watch.seconds() / 1e9);
  }
  return median(rates);
}

double int8_gop_per_s(ThreadPool& pool) {
  if (!__builtin_cpu_supports("avx512vnni")) return 0;
  constexpr int64_t kIterations = 10'000'000;
  std::vector<double> rates;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Stopwatch watch;
    pool.run([&](int) { g_sink = vnni_loop(kIterations); });
    rates.push_back(static_cast<double>(kIterations * kVnniOperations * pool.size()) / watch.seconds() / 1e9);
  }
  return median(rates);
}

}  // namespace
}  // namespace pagoda

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  pagoda::ThreadPool pool(std::max(threads, 1));
  std::printf("{\"threads\": %d, \"read_gb_s\": %.1f, \"int8_gop_s\": %.0f}\n", pool.size(),
              pagoda::read_gb_per_s(pool), pagoda::int8_gop_per_s(pool));
}
