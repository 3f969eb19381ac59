// A weight matrix as AWQ and GPTQ store it: unsigned codes, and a scale and a zero point for every group of
// columns of a row. weight = scale · (code − zero).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::quantize {

struct IntegerWeights {
  int rows = 0, columns = 0;
  int bits = 4;                // 4 or 8
  int group = 0;               // columns; divides them
  std::vector<uint8_t> codes;  // [rows, columns]
  std::vector<float> scales;   // [rows, groups], each exact in f16
  std::vector<uint8_t> zeros;  // [rows, groups]

  IntegerWeights(int rows_, int columns_, int bits_, int group_);
  int groups() const { return columns / group; }
  int most() const { return (1 << bits) - 1; }
  size_t group_at(int row, int column) const {
    return static_cast<size_t>(row) * static_cast<size_t>(groups()) + static_cast<size_t>(column / group);
  }
  float value(int row, int column) const {
    const size_t at = group_at(row, column);
    const auto code = static_cast<int>(
        codes[static_cast<size_t>(row) * static_cast<size_t>(columns) + static_cast<size_t>(column)]);
    return scales[at] * static_cast<float>(code - static_cast<int>(zeros[at]));
  }
  std::vector<float> values() const;  // [rows, columns]
};

struct Grid {
  float scale = 1.f;
  int zero = 0;
  int most = 15;

  int code(float value) const;
  float rounded(float value) const { return scale * static_cast<float>(code(value) - zero); }
};

// The grid of the least weighted squared error over `values`, among ranges that are shrunk step by step.
// Symmetric: the zero point is the middle of the codes. `weights` may be empty: all alike.
Grid best_grid(std::span<const float> values, std::span<const float> weights, int bits, bool symmetric);

}  // namespace pagoda::quantize
