// The integer quantisers against the file layouts' own reader and against plain rounding.
#include "quantize/integer_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/thread_pool.h"
#include "kernels/grouped_rows.h"
#include "model/hugging_face/quantised_tensors.h"
#include "quantize/awq.h"
#include "quantize/gptq.h"
#include "quantize/packed_words.h"

namespace pagoda::quantize {
namespace {

constexpr int kRows = 24, kColumns = 96;

std::vector<float> random_weights() {
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0.f, 0.1f);
  std::vector<float> values(static_cast<size_t>(kRows * kColumns));
  for (float& value : values) value = normal(random);
  return values;
}

// Inputs whose columns hang together and differ in size, as those of trained models do.
InputStatistics correlated_inputs() {
  constexpr int kSamples = 400, kHidden = 20;
  std::mt19937 random(12);
  std::normal_distribution<float> normal;
  std::vector<float> mix(static_cast<size_t>(kHidden * kColumns));
  for (float& value : mix) value = normal(random);
  InputStatistics statistics;
  statistics.columns = kColumns;
  statistics.rows = kSamples;
  statistics.squares.resize(static_cast<size_t>(kColumns * kColumns));
  statistics.means.resize(kColumns);
  std::vector<float> x(kColumns);
  for (int sample = 0; sample < kSamples; ++sample) {
    float hidden[kHidden];
    for (float& value : hidden) value = normal(random);
    for (int k = 0; k < kColumns; ++k) {
      float sum = 0.2f * normal(random);
      for (int h = 0; h < kHidden; ++h) sum += hidden[h] * mix[static_cast<size_t>(h * kColumns + k)];
      x[static_cast<size_t>(k)] = sum * (k % 24 == 5 ? 8.f : 1.f);  // a few columns are far larger
    }
    for (size_t i = 0; i < x.size(); ++i) {
      statistics.means[i] += std::fabs(x[i]) / kSamples;
      for (size_t j = 0; j < x.size(); ++j) statistics.squares[i * kColumns + j] += x[i] * x[j];
    }
  }
  return statistics;
}

// Σ over rows of δ H δᵀ: the squared error of the outputs.
double output_error(const std::vector<float>& wanted, const std::vector<float>& got,
                    const InputStatistics& statistics) {
  double sum = 0;
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kColumns; ++i) {
      for (int j = 0; j < kColumns; ++j) {
        const auto a = static_cast<size_t>(row * kColumns + i), b = static_cast<size_t>(row * kColumns + j);
        sum += static_cast<double>(got[a] - wanted[a]) * (got[b] - wanted[b]) *
               statistics.squares[static_cast<size_t>(i * kColumns + j)];
      }
    }
  }
  return sum;
}

IntegerWeights rounded(const std::vector<float>& weights, int bits, int group, bool symmetric) {
  IntegerWeights out(kRows, kColumns, bits, group);
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < kColumns; ++k) {
      const float* values = weights.data() + row * kColumns + k / group * group;
      const Grid grid = best_grid({values, static_cast<size_t>(group)}, {}, bits, symmetric);
      out.scales[out.group_at(row, k)] = grid.scale;
      out.zeros[out.group_at(row, k)] = static_cast<uint8_t>(grid.zero);
      out.codes[static_cast<size_t>(row * kColumns + k)] = static_cast<uint8_t>(grid.code(values[k % group]));
    }
  }
  return out;
}

TensorView view_of(const void* data, DType dtype, Shape shape) {
  return {static_cast<const std::byte*>(data), dtype, shape};
}

// What the loader makes of the words that a scheme writes.
std::vector<float> read_back(model::QuantMethod method, const IntegerWeights& w) {
  const bool awq = method == model::QuantMethod::kAwq;
  const WordMatrix codes = awq ? awq_codes(w) : gptq_codes(w), zeros = awq ? awq_zeros(w) : gptq_zeros(w);
  const std::vector<uint16_t> scales = scales_by_group(w);
  model::QuantizationConfig config;
  config.method = method;
  config.bits = w.bits;
  config.group = w.group;
  config.zeros_less_one = true;
  model::QuantisedTensors tensors(config);
  tensors.take("m.qweight", view_of(codes.words.data(), DType::kI32, Shape{codes.rows, codes.columns}));
  tensors.take("m.qzeros", view_of(zeros.words.data(), DType::kI32, Shape{zeros.rows, zeros.columns}));
  tensors.take("m.scales", view_of(scales.data(), DType::kF16, Shape{w.groups(), w.rows}));
  const auto weights = tensors.assemble();
  EXPECT_TRUE(weights) << weights.error().message;
  std::vector<float> out(w.codes.size());
  kernels::GroupedRows rows;
  for (int row = 0; row < w.rows; ++row)
    rows.dequantise(*weights->at("m.weight").grouped, row, out.data() + row * w.columns);
  return out;
}

TEST(PackedWords, AreWhatTheLoaderReads) {
  const auto weights = random_weights();
  for (const int group : {32, 96}) {
    const IntegerWeights asymmetric = rounded(weights, 4, group, false);
    EXPECT_EQ(read_back(model::QuantMethod::kAwq, asymmetric), asymmetric.values());
    for (const int bits : {4, 8}) {
      const IntegerWeights symmetric = rounded(weights, bits, group, true);
      EXPECT_EQ(read_back(model::QuantMethod::kGptq, symmetric), symmetric.values()) << bits;
    }
  }
}

TEST(Grid, CoversItsValues) {
  const std::vector<float> positive = {0.5f, 1.f, 1.5f, 2.f};
  const Grid grid = best_grid(positive, {}, 4, false);
  EXPECT_EQ(grid.zero, 0);
  for (const float value : positive) EXPECT_NEAR(grid.rounded(value), value, 0.07f);
  const std::vector<float> zeros(32, 0.f);
  EXPECT_EQ(best_grid(zeros, {}, 4, true).rounded(0.f), 0.f);
}

TEST(Gptq, FactorIsThatOfTheInverse) {
  const InputStatistics statistics = correlated_inputs();
  ThreadPool pool(2);
  const auto factor = inverse_factor(statistics, pool);
  ASSERT_TRUE(factor);
  double trace = 0;
  for (int k = 0; k < kColumns; ++k) trace += statistics.squares[static_cast<size_t>(k * kColumns + k)];
  const auto h = [&](int i, int j) {
    return statistics.squares[static_cast<size_t>(i * kColumns + j)] + (i == j ? 0.01 * trace / kColumns : 0);
  };
  // UᵀU · H is the identity.
  std::vector<double> inverse(static_cast<size_t>(kColumns * kColumns));
  for (int i = 0; i < kColumns; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      for (int k = 0; k <= std::min(i, j); ++k)
        inverse[static_cast<size_t>(i * kColumns + j)] +=
            static_cast<double>((*factor)[static_cast<size_t>(k * kColumns + i)]) *
            (*factor)[static_cast<size_t>(k * kColumns + j)];
    }
  }
  for (int i = 0; i < kColumns; i += 5) {
    for (int j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (int k = 0; k < kColumns; ++k) sum += inverse[static_cast<size_t>(i * kColumns + k)] * h(k, j);
      EXPECT_NEAR(sum, i == j ? 1 : 0, 0.02) << i << ", " << j;
    }
  }
}

TEST(Gptq, LosesLessThanRounding) {
  const auto weights = random_weights();
  const InputStatistics statistics = correlated_inputs();
  ThreadPool pool(2);
  const auto factor = inverse_factor(statistics, pool);
  ASSERT_TRUE(factor);
  auto used = weights;
  const IntegerWeights out = quantise_gptq(used, kRows, kColumns, *factor, {4, 32, true}, pool);
  const double plain = output_error(weights, rounded(weights, 4, 32, true).values(), statistics);
  EXPECT_LT(output_error(weights, out.values(), statistics), 0.5 * plain);
}

TEST(Awq, LosesLessThanRounding) {
  const auto weights = random_weights();
  const InputStatistics statistics = correlated_inputs();
  ThreadPool pool(2);
  auto copy = weights;
  const auto factors = best_column_factors({{&copy, kRows}}, statistics, {32}, pool);
  const IntegerWeights out = quantise_awq(weights, kRows, statistics, factors, {32}, pool);
  auto values = out.values();
  for (size_t i = 0; i < values.size(); ++i) values[i] /= factors[i % kColumns];
  const double plain = output_error(weights, rounded(weights, 4, 32, false).values(), statistics);
  EXPECT_LT(output_error(weights, values, statistics), 0.7 * plain);
  EXPECT_GT(factors[5], factors[6]) << "a column that meets large inputs is made larger";
}

TEST(Gptq, InputsThatAreNotFiniteAreRefused) {
  InputStatistics statistics;
  statistics.columns = 2;
  statistics.squares = {NAN, 0, 0, 1};
  ThreadPool pool(1);
  EXPECT_FALSE(inverse_factor(statistics, pool));
}

}  // namespace
}  // namespace pagoda::quantize
