// The passes over one row of logits that the sampler is made of. Each reads or writes the row once, in an
// order that is fixed by the row's length alone, so every instruction set gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pagoda::engine {

// Rows are cut into chunks; a chunk's maximum or sum tells whether it needs to be looked at again.
constexpr size_t kRowChunk = 64;
constexpr size_t chunks_of(size_t elements) {
  return (elements + kRowChunk - 1) / kRowChunk;
}

struct RowScan {
  float max = 0;
  bool has_nan = false;
};

// maxima: [chunks_of(row)].
RowScan scan_row(std::span<const float> row, std::span<float> maxima);
// The first element that equals `max`, the row's maximum.
int32_t first_of(std::span<const float> row, std::span<const float> maxima, float max);
// weights[i] = 2^((row[i] - max) · scale), sums[chunk]: their sums. Weights below 2^-125 are 0.
// The error is below 1e-6 of the weight.
void weigh_row(std::span<const float> row, float max, float scale, std::span<float> weights,
               std::span<float> sums);
// The number of elements that are at least `value`.
int count_at_least(std::span<const float> row, float value);
// Elements whose bit i of word i/32 is not set become -infinity.
void mask_row(std::span<float> row, std::span<const uint32_t> mask);

// weigh_row's weight of one element.
float weight_of(float logit, float max, float scale);

// The passes of one instruction set. Those of this CPU, the best one first: the functions above call that
// one.
struct RowPasses {
  const char* name;
  RowScan (*scan)(const float* row, size_t n, float* maxima);
  void (*weigh)(const float* row, size_t n, float max, float scale, float* weights, float* sums);
  int (*count)(const float* row, size_t n, float value);
};
std::span<const RowPasses> row_passes();

}  // namespace pagoda::engine
