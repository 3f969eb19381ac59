#include "quantize/awq.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/thread_pool.h"

namespace pagoda::quantize {
namespace {

constexpr int kBits = 4;
constexpr int kSteps = 20;
// Rows of a weight that stand for all in the search: the error of one costs columns² products.
constexpr int kRowsTried = 64;

std::vector<float> factors_for(const std::vector<float>& means, float alpha) {
  std::vector<float> factors(means.size());
  float least = 0.f, most = 0.f;
  for (size_t k = 0; k < means.size(); ++k) {
    factors[k] = std::max(std::pow(std::max(means[k], 1e-8f), alpha), 1e-4f);
    least = k == 0 ? factors[k] : std::min(least, factors[k]);
    most = std::max(most, factors[k]);
  }
  const float middle = std::sqrt(least * most);
  for (float& factor : factors) factor /= middle;
  return factors;
}

// The inputs' mean squares once the columns' factors are taken off them: what an error in a column weighs.
std::vector<float> column_weights(const InputStatistics& statistics, const std::vector<float>& factors) {
  const auto n = static_cast<size_t>(statistics.columns);
  std::vector<float> weights(n);
  for (size_t k = 0; k < n; ++k)
    weights[k] =
        statistics.squares[k * n + k] / (factors[k] * factors[k] * static_cast<float>(statistics.rows));
  return weights;
}

// Rounds one row that has been multiplied by the factors.
void round_row(const std::vector<float>& scaled, const std::vector<float>& weights, int row,
               IntegerWeights& out) {
  for (int k = 0; k < out.columns; k += out.group) {
    const auto begin = static_cast<size_t>(k), count = static_cast<size_t>(out.group);
    const std::span<const float> group(scaled.data() + begin, count);
    const Grid grid = best_grid(group, {weights.data() + begin, count}, kBits, /*symmetric=*/false);
    out.scales[out.group_at(row, k)] = grid.scale;
    out.zeros[out.group_at(row, k)] = static_cast<uint8_t>(grid.zero);
    uint8_t* codes = out.codes.data() + static_cast<size_t>(row) * static_cast<size_t>(out.columns) + begin;
    for (size_t i = 0; i < count; ++i) codes[i] = static_cast<uint8_t>(grid.code(group[i]));
  }
}

// δ H δᵀ of one row's errors.
double output_error(const std::vector<float>& delta, const std::vector<float>& squares) {
  const size_t n = delta.size();
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    if (delta[i] == 0.f) continue;
    const float* row = squares.data() + i * n;
    float product[8] = {};
    size_t j = 0;
    for (; j + 8 <= n; j += 8) {
      for (size_t lane = 0; lane < 8; ++lane) product[lane] += row[j + lane] * delta[j + lane];
    }
    float rest = 0.f;
    for (; j < n; ++j) rest += row[j] * delta[j];
    for (const float lane : product) rest += lane;
    sum += static_cast<double>(delta[i]) * rest;
  }
  return sum;
}

double error_with(const std::vector<SharedInput>& group, const InputStatistics& statistics,
                  const std::vector<float>& factors, const AwqOptions& options, ThreadPool& pool) {
  const std::vector<float> weights = column_weights(statistics, factors);
  const auto columns = static_cast<size_t>(statistics.columns);
  double sum = 0;
  std::mutex mutex;
  for (const SharedInput& member : group) {
    const int step = std::max(1, member.rows / kRowsTried);
    pool.share((member.rows + step - 1) / step, 1, [&](int first, int last) {
      std::vector<float> scaled(columns), delta(columns);
      IntegerWeights rounded(1, statistics.columns, kBits, options.group);
      double own = 0;
      for (int i = first; i < last; ++i) {
        const float* row = member.weights->data() + static_cast<size_t>(i * step) * columns;
        for (size_t k = 0; k < columns; ++k) scaled[k] = row[k] * factors[k];
        round_row(scaled, weights, 0, rounded);
        for (size_t k = 0; k < columns; ++k)
          delta[k] = rounded.value(0, static_cast<int>(k)) / factors[k] - row[k];
        own += output_error(delta, statistics.squares);
      }
      const std::lock_guard lock(mutex);
      sum += own;
    });
  }
  return sum;
}

}  // namespace

std::vector<float> best_column_factors(const std::vector<SharedInput>& group,
                                       const InputStatistics& statistics, const AwqOptions& options,
                                       ThreadPool& pool) {
  std::vector<float> best;
  double best_error = -1;
  for (int step = 0; step < kSteps; ++step) {
    auto factors = factors_for(statistics.means, static_cast<float>(step) / kSteps);
    const double error = error_with(group, statistics, factors, options, pool);
    if (best_error >= 0 && error >= best_error) continue;
    best_error = error;
    best = std::move(factors);
  }
  return best;
}

IntegerWeights quantise_awq(const std::vector<float>& weights, int rows, const InputStatistics& statistics,
                            const std::vector<float>& factors, const AwqOptions& options, ThreadPool& pool) {
  IntegerWeights out(rows, statistics.columns, kBits, options.group);
  const std::vector<float> column = column_weights(statistics, factors);
  const auto columns = static_cast<size_t>(statistics.columns);
  pool.share(rows, 4, [&](int first, int last) {
    std::vector<float> scaled(columns);
    for (int row = first; row < last; ++row) {
      const float* from = weights.data() + static_cast<size_t>(row) * columns;
      for (size_t k = 0; k < columns; ++k) scaled[k] = from[k] * factors[k];
      round_row(scaled, column, row, out);
    }
  });
  return out;
}

}  // namespace pagoda::quantize
