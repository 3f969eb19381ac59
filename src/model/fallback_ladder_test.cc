#include "model/fallback_ladder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/known_models.h"

namespace pagoda::model {
namespace {

using testing::HasSubstr;

DeviceFacts card(std::string name, int64_t mib, double gb_s) {
  DeviceFacts facts;
  facts.kind = DeviceKind::kCuda;
  facts.name = std::move(name);
  facts.memory_bytes = mib << 20;
  facts.memory_bandwidth = gb_s * 1e9;
  facts.flops_16 = 150e12;
  facts.pcie = 25e9;
  return facts;
}

DeploymentPlan planned(std::string_view model, const DeviceFacts& device, int length, int wanted = 0) {
  Deployment d;
  d.facts = *facts_of_known_model(model);
  d.scheme = d.facts.scheme;
  d.device = device;
  d.serving.max_model_len = length;
  d.serving.max_num_seqs = wanted > 0 ? wanted : 256;
  d.serving.max_num_batched_tokens = 2048;
  d.sequences_wanted = wanted > 0;
  return *plan_deployment(d);
}

const Rung& rung(const std::vector<Rung>& ladder, RungKind kind) {
  for (const Rung& r : ladder) {
    if (r.kind == kind) return r;
  }
  ADD_FAILURE() << "no such rung";
  return ladder.front();
}

const std::vector<DeviceFacts> kCards = {card("big", 81920, 2000), card("small", 24576, 900),
                                         card("middle", 49152, 900)};

TEST(FallbackLadder, FourBitsFirst) {
  const DeploymentPlan plan = planned("Qwen2.5-14B", card("small", 24576, 900), 8192);
  ASSERT_EQ(plan.verdict, Verdict::kDoesNotFit);
  const auto ladder = fallback_ladder(plan, {kCards, {}, false});
  EXPECT_EQ(ladder.front().kind, RungKind::kFourBit);
  EXPECT_TRUE(ladder.front().helps);
  EXPECT_THAT(ladder.front().flags, testing::ElementsAre(testing::Pair("quantization", "awq")));
  EXPECT_FALSE(rung(ladder, RungKind::kShorter).helps);  // the weights alone are too much
  EXPECT_THAT(rung(ladder, RungKind::kSwap).outcome, HasSubstr("does not help"));
  EXPECT_EQ(rung(ladder, RungKind::kMoreDevices).plan.deployment.split.tensor, 2);
  EXPECT_EQ(rung(ladder, RungKind::kOtherCard).plan.deployment.device.name, "middle");
}

TEST(FallbackLadder, TheLongestContextThatFits) {
  const DeploymentPlan plan = planned("Llama-3.1-8B", card("small", 24576, 900), 131072);
  const auto ladder = fallback_ladder(plan, {kCards, {}, false});
  const Rung& shorter = rung(ladder, RungKind::kShorter);
  ASSERT_TRUE(shorter.helps);
  const int length = shorter.plan.deployment.serving.max_model_len;
  EXPECT_THAT(shorter.flags, testing::ElementsAre(testing::Pair("max-model-len", std::to_string(length))));
  EXPECT_TRUE(planned("Llama-3.1-8B", card("small", 24576, 900), length).fits());
  EXPECT_FALSE(planned("Llama-3.1-8B", card("small", 24576, 900), length + 16).fits());
}

TEST(FallbackLadder, NeitherAloneButBothTogether) {
  const DeploymentPlan plan = planned("Qwen2.5-32B", card("small", 24576, 900), 32768);
  const auto ladder = fallback_ladder(plan, {kCards, {}, false});
  EXPECT_FALSE(rung(ladder, RungKind::kFourBit).helps);
  EXPECT_FALSE(rung(ladder, RungKind::kShorter).helps);
  EXPECT_TRUE(rung(ladder, RungKind::kFourBitShorter).helps);
  EXPECT_EQ(rung(ladder, RungKind::kFourBitShorter).flags.size(), 2u);
}

TEST(FallbackLadder, SwapHelpsWhereSequencesWait) {
  const DeploymentPlan plan = planned("Qwen2.5-7B", card("small", 24576, 900), 8192, 64);
  ASSERT_EQ(plan.verdict, Verdict::kFitsFewer);
  const auto ladder = fallback_ladder(plan, {kCards, rates_of(plan), true});
  const Rung& swap = rung(ladder, RungKind::kSwap);
  ASSERT_TRUE(swap.helps);
  EXPECT_EQ(swap.flags.front().first, "swap-space");
  EXPECT_GT(swap.slow_down, 1.2);
  EXPECT_LT(swap.slow_down, 64 / plan.sequences);
  EXPECT_THAT(swap.outcome, HasSubstr("times as long"));
}

// A CPU has no other memory to swap to.
TEST(FallbackLadder, ACpuSwapsWithinItsOwnMemory) {
  Deployment d;
  d.facts = *facts_of_known_model("SmolLM2-135M");
  d.scheme = d.facts.scheme;
  d.device.memory_bytes = int64_t{2} << 30;
  d.serving.max_model_len = 8192;
  d.serving.max_num_seqs = 32;
  d.serving.max_num_batched_tokens = 512;
  d.sequences_wanted = true;
  const auto swap_of = [](const Deployment& asked) {
    return rung(fallback_ladder(*plan_deployment(asked), {kCards, {}, false}), RungKind::kSwap);
  };
  EXPECT_THAT(swap_of(d).outcome, HasSubstr("lies in the same memory"));
  d.device.memory_bytes = int64_t{32} << 30;
  d.serving.kv_cache_bytes = int64_t{1} << 30;
  EXPECT_TRUE(swap_of(d).helps) << swap_of(d).outcome;
}

TEST(FallbackLadder, LessMemoryWhereOthersHoldSome) {
  DeviceFacts busy = card("small", 24576, 900);
  busy.in_use_bytes = int64_t{5} << 30;
  const DeploymentPlan plan = planned("Qwen2.5-7B", busy, 8192);
  ASSERT_EQ(plan.verdict, Verdict::kInUse);
  const Rung swap = rung(fallback_ladder(plan, {kCards, {}, false}), RungKind::kSwap);
  ASSERT_TRUE(swap.helps) << swap.outcome;
  EXPECT_EQ(swap.flags.front(), (std::pair<std::string, std::string>{"gpu-memory-utilization", "0.79"}));
}

TEST(FallbackLadder, WeightsThatAreNarrowAlready) {
  const DeploymentPlan plan = planned("Qwen2.5-72B-Instruct-AWQ", card("small", 24576, 900), 8192);
  const auto ladder = fallback_ladder(plan, {kCards, {}, false});
  EXPECT_THAT(ladder.front().outcome, HasSubstr("bits already"));
  EXPECT_FALSE(ladder.front().helps);
}

TEST(FallbackLadder, NothingHoldsTheLargest) {
  const auto ladder =
      fallback_ladder(planned("DeepSeek-V3", card("small", 24576, 900), 8192), {kCards, {}, false});
  EXPECT_FALSE(rung(ladder, RungKind::kMoreDevices).helps);
  EXPECT_EQ(rung(ladder, RungKind::kOtherCard).outcome, "no single card holds it");
}

}  // namespace
}  // namespace pagoda::model
