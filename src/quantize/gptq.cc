#include "quantize/gptq.h"

#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"

namespace pagoda::quantize {
namespace {

constexpr int kBlock = 64;       // rows of a matrix that are eliminated together
constexpr int kRowsAtOnce = 16;  // of a weight, so that one row of the factor serves several

size_t at(int row, int column, int size) {
  return static_cast<size_t>(row) * static_cast<size_t>(size) + static_cast<size_t>(column);
}

// y[i] -= factor · x[i]
inline void subtract(float* __restrict y, const float* __restrict x, float factor, int count) {
  for (int i = 0; i < count; ++i) y[i] -= factor * x[i];
}

// a becomes the upper V with VᵀV = a; only the upper triangle is read. False where a is not positive.
bool factorise(std::vector<float>& a, int n, ThreadPool& pool) {
  for (int block = 0; block < n; block += kBlock) {
    const int end = std::min(block + kBlock, n);
    for (int k = block; k < end; ++k) {
      float* row = a.data() + at(k, 0, n);
      for (int before = block; before < k; ++before)
        subtract(row + k, a.data() + at(before, k, n), a[at(before, k, n)], n - k);
      if (!(row[k] > 0.f)) return false;
      const float inverse = 1.f / std::sqrt(row[k]);
      for (int j = k; j < n; ++j) row[j] *= inverse;
    }
    pool.share(n - end, 8, [&](int first, int last) {
      for (int i = end + first; i < end + last; ++i) {
        for (int k = block; k < end; ++k)
          subtract(a.data() + at(i, i, n), a.data() + at(k, i, n), a[at(k, i, n)], n - i);
      }
    });
  }
  return true;
}

// The inverse of an upper triangle, some rows at a time.
void invert_rows(const std::vector<float>& upper, int n, int first, int last, std::vector<float>& out) {
  for (int i = first; i < last; ++i) out[at(i, i, n)] = 1.f;
  for (int k = first; k < n; ++k) {
    const float* row = upper.data() + at(k, 0, n);
    for (int i = first; i < std::min(last, k + 1); ++i) {
      float& value = out[at(i, k, n)];
      value /= row[k];
      subtract(out.data() + at(i, k + 1, n), row + k + 1, value, n - k - 1);
    }
  }
}

}  // namespace

Result<std::vector<float>> inverse_factor(const InputStatistics& statistics, ThreadPool& pool) {
  const int n = statistics.columns;
  double trace = 0;
  for (int k = 0; k < n; ++k) trace += statistics.squares[at(k, k, n)];
  const auto mean = static_cast<float>(trace / n);
  for (float damping = 0.01f; damping < 100.f; damping *= 4.f) {
    // Both axes are turned round: the factor of the turned matrix, turned back, is the lower one's transpose,
    // and its inverse is the upper factor of the inverse.
    std::vector<float> turned(statistics.squares.size());
    for (int i = 0; i < n; ++i) {
      for (int j = i; j < n; ++j) turned[at(i, j, n)] = statistics.squares[at(n - 1 - i, n - 1 - j, n)];
      turned[at(i, i, n)] += damping * mean + (turned[at(i, i, n)] == 0.f ? 1.f : 0.f);
    }
    if (!factorise(turned, n, pool)) continue;
    std::vector<float> upper(turned.size());
    for (int i = 0; i < n; ++i) {
      for (int j = i; j < n; ++j) upper[at(i, j, n)] = turned[at(n - 1 - j, n - 1 - i, n)];
    }
    std::fill(turned.begin(), turned.end(), 0.f);
    pool.share(n, 32, [&](int first, int last) { invert_rows(upper, n, first, last, turned); });
    return turned;
  }
  return fail(ErrorCode::kCorruptData, "the calibration's inputs are not finite; is the model sound?");
}

IntegerWeights quantise_gptq(std::vector<float>& weights, int rows, int columns,
                             const std::vector<float>& factor, const GptqOptions& options, ThreadPool& pool) {
  IntegerWeights out(rows, columns, options.bits, options.group);
  pool.share(rows, kRowsAtOnce, [&](int first, int last) {
    std::vector<Grid> grids(static_cast<size_t>(last - first));
    for (int k = 0; k < columns; ++k) {
      const float* dependence = factor.data() + at(k, 0, columns);
      for (int row = first; row < last; ++row) {
        float* w = weights.data() + at(row, 0, columns);
        Grid& grid = grids[static_cast<size_t>(row - first)];
        if (k % options.group == 0) {
          const std::span<const float> group(w + k, static_cast<size_t>(options.group));
          grid = best_grid(group, {}, options.bits, options.symmetric);
          out.scales[out.group_at(row, k)] = grid.scale;
          out.zeros[out.group_at(row, k)] = static_cast<uint8_t>(grid.zero);
        }
        const int code = grid.code(w[k]);
        out.codes[at(row, k, columns)] = static_cast<uint8_t>(code);
        const float lost = (w[k] - grid.scale * static_cast<float>(code - grid.zero)) / dependence[k];
        subtract(w + k + 1, dependence + k + 1, lost, columns - k - 1);
      }
    }
  });
  return out;
}

}  // namespace pagoda::quantize
