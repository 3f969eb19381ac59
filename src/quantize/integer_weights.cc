#include "quantize/integer_weights.h"

#include <algorithm>
#include <cmath>

#include "tensor/dtype.h"

namespace pagoda::quantize {
namespace {

constexpr int kShrinkSteps = 20;
constexpr float kShrinkStep = 0.03f;  // down to 0.4 of the whole range
constexpr float kLeastScale = 0x1p-14f;

Grid grid_of(float least, float most, int bits, bool symmetric) {
  Grid grid;
  grid.most = (1 << bits) - 1;
  const int middle = 1 << (bits - 1);
  const float range = symmetric ? 2.f * std::max(-least, most) : most - least;
  const auto steps = static_cast<float>(grid.most);
  grid.scale = f16_to_f32(f32_to_f16(std::max(range / steps, kLeastScale)));
  grid.zero =
      symmetric ? middle : static_cast<int>(std::clamp(std::nearbyint(-least / grid.scale), 0.f, steps));
  return grid;
}

}  // namespace

IntegerWeights::IntegerWeights(int rows_, int columns_, int bits_, int group_)
    : rows(rows_), columns(columns_), bits(bits_), group(group_) {
  codes.resize(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  scales.resize(static_cast<size_t>(rows) * static_cast<size_t>(groups()));
  zeros.resize(scales.size());
}

std::vector<float> IntegerWeights::values() const {
  std::vector<float> out(codes.size());
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < columns; ++k)
      out[static_cast<size_t>(row) * static_cast<size_t>(columns) + static_cast<size_t>(k)] = value(row, k);
  }
  return out;
}

int Grid::code(float value) const {
  const float nearest = std::nearbyint(value / scale) + static_cast<float>(zero);
  return static_cast<int>(std::clamp(nearest, 0.f, static_cast<float>(most)));
}

Grid best_grid(std::span<const float> values, std::span<const float> weights, int bits, bool symmetric) {
  float least = 0.f, most = 0.f;
  for (const float value : values) least = std::min(least, value), most = std::max(most, value);
  Grid best;
  float best_error = -1.f;
  for (int step = 0; step < kShrinkSteps; ++step) {
    const float shrunk = 1.f - kShrinkStep * static_cast<float>(step);
    const Grid grid = grid_of(least * shrunk, most * shrunk, bits, symmetric);
    float error = 0.f;
    for (size_t i = 0; i < values.size(); ++i) {
      const float delta = grid.rounded(values[i]) - values[i];
      error += (weights.empty() ? 1.f : weights[i]) * delta * delta;
    }
    if (best_error < 0.f || error < best_error) best_error = error, best = grid;
  }
  return best;
}

}  // namespace pagoda::quantize
