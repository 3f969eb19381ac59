#include "model/footprint.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace pagoda::model {
namespace {

constexpr double kGiB = 1 << 30;

KvGroup group(int layers, int kv_heads, int head_dim, int window = 0) {
  KvGroup made{std::vector<int>(static_cast<size_t>(layers)), kv_heads, head_dim, window};
  std::iota(made.layers.begin(), made.layers.end(), 0);
  return made;
}

double gib_at(const KvLayout& layout, int64_t tokens) {
  return static_cast<double>(kv_bytes_of_sequence(layout, DType::kBF16, tokens)) / kGiB;
}

TEST(Footprint, KvOfKnownModels) {
  EXPECT_EQ(kv_bytes_per_token({group(32, 8, 128)}, DType::kBF16), 128 * 1024);  // Llama 3.1 8B
  EXPECT_NEAR(gib_at({group(28, 8, 128)}, 40960), 4.38, 0.005);                  // Qwen3 0.6B
  // Gemma 3 27B: ten of its 62 layers see everything, the others 1024 tokens.
  EXPECT_NEAR(gib_at({group(10, 16, 128), group(52, 16, 128, 1024)}, 131072), 10.41, 0.005);
  EXPECT_NEAR(gib_at({group(62, 16, 128)}, 131072), 62.00, 0.005);  // what leaving the window out would give
  // DeepSeek V3.1 keeps 512 latent and 64 rotated numbers per layer: as much as K and V of 288 each.
  EXPECT_NEAR(gib_at({group(61, 1, 288)}, 163840), 10.72, 0.005);
  EXPECT_EQ(kv_bytes_per_token({group(30, 3, 64)}, DType::kBF16), 23040);  // SmolLM2 135M
}

TEST(Footprint, AWindowedGroupHoldsItsWindowAndTheStep) {
  const KvLayout layout = {group(3, 1, 256), group(15, 1, 256, 512)};
  // 511 earlier tokens and the step, from the middle of a block to the middle of another.
  EXPECT_EQ(kv_blocks_of_sequence(layout, 16, 32768, 1), (std::vector<int64_t>{2048, 33}));
  EXPECT_EQ(kv_blocks_of_sequence(layout, 16, 32768, 512), (std::vector<int64_t>{2048, 65}));
  EXPECT_EQ(kv_blocks_of_sequence(layout, 16, 100, 512), (std::vector<int64_t>{7, 7}));
  EXPECT_EQ(kv_blocks_of_sequence(layout, 16, 1, 1), (std::vector<int64_t>{1, 1}));
}

// By counting: the blocks that a step of `step` tokens touches at every possible place of the sequence.
TEST(Footprint, BlocksOfAWindowAreTheMostThatAnyStepTouches) {
  for (int window : {1, 5, 16, 17, 31, 32}) {
    for (int step : {1, 2, 15, 16, 17, 40}) {
      const KvLayout layout = {group(1, 1, 8, window)};
      int64_t most = 0;
      for (int64_t begin = 0; begin + step <= 200; ++begin) {
        const int64_t first = std::max<int64_t>(0, begin - window + 1);
        most = std::max(most, (begin + step - 1) / 16 - first / 16 + 1);
      }
      EXPECT_EQ(kv_blocks_of_sequence(layout, 16, 200, step)[0], most)
          << "window " << window << " step " << step;
    }
  }
}

TEST(Footprint, ActivationsGrowWithRowsAndLogitsWithTheVocabulary) {
  ModelConfig config;
  config.hidden = 576;
  config.ffn = 1536;
  config.heads = 9;
  config.kv_heads = 3;
  config.head_dim = 64;
  config.vocabulary = 49152;
  // 2·576 + 2·576 + 2·192 + 2·1536 floats, and 1536 codes with 48 scales and sums.
  EXPECT_EQ(activation_bytes(config, 1), 5760 * 4 + 1536 + 48 * 8);
  EXPECT_EQ(activation_bytes(config, 2048), 2048 * activation_bytes(config, 1));
  EXPECT_EQ(logit_bytes(config, 4), 4 * 49152 * 4);
}

TEST(Footprint, HugeFiguresSaturate) {
  const KvLayout layout = {group(1024, 4096, 1024)};
  EXPECT_EQ(kv_bytes_of_sequence(layout, DType::kF32, int64_t{1} << 40), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace pagoda::model
