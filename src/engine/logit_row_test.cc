#include "engine/logit_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/philox.h"

namespace pagoda::engine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_row(int vocabulary, unsigned seed, float spread = 3.f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.f, spread);
  std::vector<float> row(static_cast<size_t>(vocabulary));
  for (float& logit : row) logit = normal(random);
  return row;
}

TEST(Philox, KnownAnswers) {
  using Four = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(LogitRow, EveryInstructionSetGivesTheSameBits) {
  for (const int n : {1, 15, 16, 63, 64, 65, 200, 1000, 49152}) {
    std::vector<float> row = random_row(n, static_cast<unsigned>(n), 12.f);
    row[static_cast<size_t>(n) / 2] = -kInfinity;
    const size_t chunks = chunks_of(row.size());
    std::vector<float> first_maxima, first_weights, first_sums;
    for (const RowPasses& passes : row_passes()) {
      std::vector<float> maxima(chunks), weights(row.size()), sums(chunks);
      const RowScan scan = passes.scan(row.data(), row.size(), maxima.data());
      EXPECT_FALSE(scan.has_nan);
      EXPECT_EQ(scan.max, *std::ranges::max_element(row));
      passes.weigh(row.data(), row.size(), 20.f, 1.7f, weights.data(), sums.data());
      EXPECT_EQ(passes.count(row.data(), row.size(), 1.f),
                std::ranges::count_if(row, [](float x) { return x >= 1.f; }));
      if (first_weights.empty()) {
        first_maxima = maxima, first_weights = weights, first_sums = sums;
      }
      EXPECT_EQ(maxima, first_maxima) << passes.name;
      EXPECT_EQ(weights, first_weights) << passes.name;
      EXPECT_EQ(sums, first_sums) << passes.name;
      for (size_t i = 0; i < row.size(); ++i) EXPECT_EQ(weights[i], weight_of(row[i], 20.f, 1.7f));
    }
  }
}

TEST(LogitRow, WeightsAreExponentials) {
  for (float t = 0; t > -124.f; t -= 0.0371f) {
    const double expected = std::exp2(static_cast<double>(t));
    EXPECT_NEAR(static_cast<double>(weight_of(t, 0.f, 1.f)) / expected, 1.0, 1e-6) << t;
  }
  EXPECT_EQ(weight_of(0.f, 0.f, 1.f), 1.f);
  EXPECT_EQ(weight_of(-200.f, 0.f, 1.f), 0.f);
  EXPECT_EQ(weight_of(-kInfinity, 0.f, 1.f), 0.f);
}

TEST(LogitRow, FindsNanWhereverItIs) {
  for (const size_t at : {0u, 17u, 63u, 64u, 99u}) {
    std::vector<float> row = random_row(100, 1);
    row[at] = kNan;
    std::vector<float> maxima(chunks_of(row.size()));
    for (const RowPasses& passes : row_passes())
      EXPECT_TRUE(passes.scan(row.data(), row.size(), maxima.data()).has_nan);
  }
}

}  // namespace
}  // namespace pagoda::engine
