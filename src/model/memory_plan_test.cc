#include "model/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "model/footprint.h"

namespace pagoda::model {
namespace {

using testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kGiB = 1 << 30;

ModelConfig smollm2() {
  ModelConfig config;
  config.layers = 30;
  config.hidden = 576;
  config.ffn = 1536;
  config.heads = 9;
  config.kv_heads = 3;
  config.head_dim = 64;
  config.vocabulary = 49152;
  config.context = 8192;
  config.layer_is_windowed.assign(30, false);
  return config;
}

ModelConfig gemma3_270m() {
  ModelConfig config;
  config.layers = 18;
  config.hidden = 640;
  config.ffn = 2048;
  config.heads = 4;
  config.kv_heads = 1;
  config.head_dim = 256;
  config.vocabulary = 262144;
  config.context = 32768;
  config.window = 512;
  for (int layer = 0; layer < 18; ++layer) config.layer_is_windowed.push_back(layer % 6 != 5);
  return config;
}

ServingShape shape(int max_model_len, int64_t device_bytes, double utilization) {
  ServingShape made;
  made.max_model_len = max_model_len;
  made.max_num_seqs = 64;
  made.max_num_batched_tokens = 512;
  made.device_bytes = device_bytes;
  made.utilization = utilization;
  return made;
}

int64_t total(const MemoryPlan& plan) {
  return plan.weights + plan.activations + plan.other + plan.kv;
}

TEST(MemoryPlan, KvTakesWhatIsLeftDownToTheLastBlock) {
  const auto plan = plan_memory(smollm2(), 96 * kMiB, 0, shape(8192, kGiB, 0.9));
  ASSERT_TRUE(plan) << plan.error().message;
  const int64_t block = smollm2().kv_layout()[0].block_bytes(16, DType::kBF16);
  EXPECT_LE(total(*plan), plan->budget);
  EXPECT_GT(total(*plan) + block, plan->budget);
  EXPECT_EQ(plan->kv, plan->blocks[0] * block);
  EXPECT_DOUBLE_EQ(plan->sequences, plan->blocks[0] / 512.0);
}

TEST(MemoryPlan, NeverMoreThanAllSequencesCanUse) {
  ServingShape wanted = shape(1024, 64 * kGiB, 0.9);
  wanted.max_num_seqs = 4;
  EXPECT_EQ(plan_memory(smollm2(), 96 * kMiB, 0, wanted)->blocks, (std::vector<int>{4 * 64}));
  EXPECT_DOUBLE_EQ(plan_memory(smollm2(), 96 * kMiB, 0, wanted)->sequences, 4.0);
  const auto gemma = plan_memory(gemma3_270m(), 250 * kMiB, 0, wanted);
  EXPECT_EQ(gemma->blocks, (std::vector<int>{4 * 64, 4 * 64}));
  wanted.max_model_len = 8192;
  EXPECT_EQ(plan_memory(gemma3_270m(), 250 * kMiB, 0, wanted)->blocks, (std::vector<int>{4 * 512, 4 * 65}));
}

TEST(MemoryPlan, EveryGroupHoldsOneSequenceAtLeast) {
  const ModelConfig config = gemma3_270m();
  for (int64_t device = 400 * kMiB; device < 2000 * kMiB; device += 37 * kMiB) {
    const auto plan = plan_memory(config, 250 * kMiB, 0, shape(32768, device, 1.0));
    if (!plan) continue;
    EXPECT_GE(plan->sequences, 1.0);
    EXPECT_LE(total(*plan), plan->budget);
  }
}

// 8 GiB at 0.70 with 5.20 of weights, 1.42 of activations and 0.03 of other: −1.05 GiB are left.
TEST(MemoryPlan, TheKnownCaseThatDoesNotFit) {
  ModelConfig config = smollm2();
  ServingShape wanted = shape(8192, 8 * kGiB, 0.70);
  const int64_t activations =
      activation_bytes(config, wanted.max_num_batched_tokens) + logit_bytes(config, 64);
  const int64_t weights = static_cast<int64_t>(5.20 * kGiB) + static_cast<int64_t>(1.42 * kGiB) - activations;
  const auto plan = plan_memory(config, weights, static_cast<int64_t>(0.03 * kGiB), wanted);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(plan.error().message, HasSubstr("of 5.60 GiB (8.00 GiB × 0.70)"));
  EXPECT_THAT(plan.error().message, HasSubstr("-1.05 GiB is left for KV"));
  EXPECT_THAT(plan.error().message, HasSubstr("What fits: --gpu-memory-utilization 0.86."));
}

TEST(MemoryPlan, TheFlagsThatItSuggestsDoFitAndAreTheLargest) {
  const ServingShape wanted = shape(8192, 512 * kMiB, 0.5);
  const auto plan = plan_memory(smollm2(), 96 * kMiB, 0, wanted);
  ASSERT_FALSE(plan);
  std::smatch found;
  const std::string message = plan.error().message;
  ASSERT_TRUE(std::regex_search(message, found,
                                std::regex("--max-model-len (\\d+) or --gpu-memory-utilization (0\\.\\d+)")))
      << message;
  ServingShape shorter = wanted;
  shorter.max_model_len = std::stoi(found[1]);
  EXPECT_TRUE(plan_memory(smollm2(), 96 * kMiB, 0, shorter));
  shorter.max_model_len += 16;
  EXPECT_FALSE(plan_memory(smollm2(), 96 * kMiB, 0, shorter));
  ServingShape more = wanted;
  more.utilization = std::stod(found[2]);
  EXPECT_TRUE(plan_memory(smollm2(), 96 * kMiB, 0, more));
  more.utilization -= 0.01;
  EXPECT_FALSE(plan_memory(smollm2(), 96 * kMiB, 0, more));
}

TEST(MemoryPlan, SmallerStepsAreSuggestedWhereNothingElseHelps) {
  ServingShape wanted = shape(8192, 300 * kMiB, 0.9);
  wanted.max_num_batched_tokens = 16384;
  const auto plan = plan_memory(smollm2(), 96 * kMiB, 0, wanted);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message,
              testing::ContainsRegex("What fits: --max-model-len [0-9]+ --max-num-batched-tokens 512"));
  EXPECT_THAT(plan_memory(smollm2(), kGiB, 0, shape(8192, 300 * kMiB, 0.9)).error().message,
              HasSubstr("No flag makes it fit"));
}

TEST(MemoryPlan, KvCanBeGivenByHand) {
  ServingShape wanted = shape(8192, kGiB, 0.9);
  wanted.blocks_override = 10;
  const auto plan = plan_memory(gemma3_270m(), 250 * kMiB, 0, wanted);
  EXPECT_EQ(plan->blocks, (std::vector<int>{10, 10}));
  wanted.blocks_override = 0;
  wanted.kv_cache_bytes = 200 * kMiB;
  const auto limited = plan_memory(smollm2(), 96 * kMiB, 0, wanted);
  ASSERT_TRUE(limited) << limited.error().message;
  EXPECT_LE(limited->kv, 200 * kMiB);
}

}  // namespace
}  // namespace pagoda::model
