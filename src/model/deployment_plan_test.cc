#include "model/deployment_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/known_models.h"
#include "model/swap_forecast.h"

namespace pagoda::model {
namespace {

using testing::HasSubstr;

constexpr int64_t kGiB = int64_t{1} << 30;

DeviceFacts card(int64_t mib, double gb_s, int nvlink_group) {
  DeviceFacts facts;
  facts.kind = DeviceKind::kCuda;
  facts.name = "a card";
  facts.memory_bytes = mib << 20;
  facts.memory_bandwidth = gb_s * 1e9;
  facts.flops_16 = 300e12;
  facts.nvlink = nvlink_group > 0 ? 300e9 : 0;
  facts.nvlink_group = nvlink_group;
  facts.pcie = 25e9;
  facts.network = 12.5e9;
  return facts;
}
DeviceFacts rtx4090() {
  return card(24564, 1008, 0);
}
DeviceFacts a100() {
  return card(81920, 2039, 8);
}

Deployment of(std::string_view model, const DeviceFacts& device, int length, Parallelism split = {}) {
  Deployment d;
  d.facts = *facts_of_known_model(model);
  d.scheme = d.facts.scheme;
  d.device = device;
  d.split = split;
  d.serving.max_model_len = length;
  d.serving.max_num_seqs = 256;
  d.serving.max_num_batched_tokens = 2048;
  return d;
}

DeploymentPlan planned(Deployment d) {
  auto plan = plan_deployment(std::move(d));
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : DeploymentPlan{};
}

// The two lines of the beginner's guide.
TEST(DeploymentPlan, SevenBillionFitTwentyFourGigabytes) {
  EXPECT_TRUE(planned(of("Qwen2.5-7B-Instruct", rtx4090(), 8192)).fits());
  EXPECT_TRUE(
      planned(of("Qwen2.5-7B-Instruct", card(23028, 600, 0), 0)).fits());  // an A10, all of its context
  EXPECT_EQ(planned(of("Qwen2.5-14B-Instruct", rtx4090(), 8192)).verdict, Verdict::kDoesNotFit);
}

TEST(DeploymentPlan, SeventyBillionFitTwoA100) {
  const DeploymentPlan plan = planned(of("Qwen2.5-70B-Instruct", a100(), 8192, {2, 1, 1}));
  EXPECT_TRUE(plan.fits());
  EXPECT_FALSE(plan.parallel_cost.worth_a_warning());
  EXPECT_EQ(planned(of("Qwen2.5-70B-Instruct", a100(), 8192)).verdict, Verdict::kDoesNotFit);
  // Not at the model's whole context: the longest stands in the plan.
  const DeploymentPlan whole = planned(of("Qwen2.5-70B-Instruct", a100(), 0, {2, 1, 1}));
  EXPECT_EQ(whole.verdict, Verdict::kDoesNotFit);
  EXPECT_GT(whole.longest_model_len, 8192);
  EXPECT_TRUE(planned(of("Qwen2.5-70B-Instruct", a100(), whole.longest_model_len, {2, 1, 1})).fits());
}

TEST(DeploymentPlan, TensorParallelismWarnsWhereItLeavesNvlink) {
  const auto link = [](const DeviceFacts& device, int ranks) {
    return planned(of("Qwen2.5-72B-Instruct", device, 1024, {ranks, 1, 1})).parallel_cost;
  };
  EXPECT_EQ(link(a100(), 8).link, LinkKind::kNvLink);
  EXPECT_EQ(link(a100(), 16).link, LinkKind::kNetwork);
  EXPECT_EQ(link(rtx4090(), 4).link, LinkKind::kPcie);
  EXPECT_EQ(link(card(81920, 1935, 2), 4).link, LinkKind::kPcie);  // bridges join two
  EXPECT_TRUE(link(rtx4090(), 4).worth_a_warning());
  EXPECT_GT(link(rtx4090(), 4).decode_loss, link(a100(), 4).decode_loss);
  EXPECT_GT(link(a100(), 16).prefill_loss, link(a100(), 8).prefill_loss);
  // 80 layers, two all-reduces of 8192 numbers of two bytes; a ring sends 2 · 3/4 of them.
  EXPECT_DOUBLE_EQ(link(a100(), 4).bytes_per_token, 2.0 * 80 * 8192 * 2 * 1.5);
}

TEST(DeploymentPlan, SharesOfASplit) {
  const ModelFacts facts = *facts_of_known_model("Llama-3.1-70B");
  const ModelShape four = share_of_device(facts, {4, 1, 1});
  EXPECT_EQ(four.kv[0].kv_heads, 2);
  EXPECT_EQ(share_of_device(facts, {16, 1, 1}).kv[0].kv_heads, 1);  // copied, no half heads
  EXPECT_EQ(share_of_device(facts, {1, 3, 1}).kv[0].layers.size(), 27u);
  const int64_t whole = weight_bytes_of_device(facts, facts.scheme, {});
  EXPECT_NEAR(static_cast<double>(weight_bytes_of_device(facts, facts.scheme, {4, 1, 1})),
              static_cast<double>(whole) / 4, static_cast<double>(whole) * 0.001);
  // Latent KV is the same on every device.
  const ModelFacts deepseek = *facts_of_known_model("DeepSeek-V3");
  EXPECT_EQ(share_of_device(deepseek, {8, 1, 1}).kv[0].block_bytes(16, DType::kBF16),
            kv_layout(deepseek)[0].block_bytes(16, DType::kBF16));
}

TEST(DeploymentPlan, SplitsThatCannotBe) {
  const auto error = [](Parallelism split) {
    auto plan = plan_deployment(of("Qwen2.5-7B", a100(), 1024, split));
    return plan ? std::string("no error") : plan.error().message;
  };
  EXPECT_THAT(error({8, 1, 1}), HasSubstr("28 heads"));
  EXPECT_THAT(error({1, 100, 1}), HasSubstr("28 layers"));
  EXPECT_EQ(error({4, 1, 2}), "no error");
  EXPECT_THAT(plan_deployment(of("Qwen2.5-7B", a100(), 40000)).error().message, HasSubstr("32768"));
}

TEST(DeploymentPlan, VerdictsAreOrdered) {
  Deployment d = of("Qwen2.5-7B", rtx4090(), 32768);
  EXPECT_EQ(planned(d).verdict, Verdict::kFits);
  d.serving.max_num_seqs = 16;
  d.sequences_wanted = true;
  EXPECT_EQ(planned(d).verdict, Verdict::kFitsFewer);
  d.sequences_wanted = false;
  d.device.in_use_bytes = 6 * kGiB;
  EXPECT_EQ(planned(d).verdict, Verdict::kInUse);
}

// 8 GiB at 0.70 with 5.20 of weights, 1.42 of activations and 0.03 of other leave −1.05 GiB.
TEST(DeploymentPlan, WhatIsLeftMayBeNegative) {
  ModelShape shape = shape_of(*facts_of_known_model("SmolLM2-135M"));
  ServingShape serving;
  serving.max_model_len = 1024;
  serving.max_num_seqs = serving.max_num_batched_tokens = 1;
  serving.device_bytes = 8 * kGiB;
  serving.utilization = 0.70;
  const int64_t none = memory_need(shape, 0, 0, serving).fixed.activations;
  const auto gib = [](double value) { return static_cast<int64_t>(value * static_cast<double>(kGiB)); };
  const MemoryNeed need = memory_need(shape, gib(5.20) + gib(1.42) - none, gib(0.03), serving);
  EXPECT_NEAR(static_cast<double>(need.room) / static_cast<double>(kGiB), -1.05, 0.005);
  EXPECT_FALSE(need.fits());
}

TEST(DeploymentPlan, DecodingIsBoundByTheBytesThatAStepReads) {
  const DeploymentPlan plan = planned(of("Qwen2.5-7B", rtx4090(), 8192));
  // 15.23 GB less the embedding, of which a token reads one row.
  EXPECT_NEAR(plan.speed.one_stream, 1008e9 / (15.23e9 - 152064.0 * 3584 * 2), 1);
  EXPECT_GT(plan.speed.all_streams, plan.speed.one_stream * plan.speed.streams / 10);
  const DeploymentPlan narrow = planned([] {
    Deployment d = of("Qwen2.5-7B", rtx4090(), 8192);
    d.scheme = *find_weight_scheme("awq");
    return d;
  }());
  EXPECT_GT(narrow.speed.one_stream, 2.5 * plan.speed.one_stream);
}

SwapLoad load(int64_t blocks, int64_t swap_blocks) {
  SwapLoad made;
  made.sequences = made.max_num_seqs = 8;
  made.prompt = 64;
  made.answer = 64;
  made.blocks = blocks;
  made.swap_blocks = swap_blocks;
  return made;
}

TEST(SwapForecast, RoomForAllIsNoSlowDown) {
  EXPECT_DOUBLE_EQ(forecast_swap(load(1000, 0), {1e-3, 1e-5, 0, 0}).slow_down(), 1);
}

TEST(SwapForecast, AHalfPoolRunsInTwoWaves) {
  // Steps that cost the same whatever they compute: half the streams at once take about twice as long.
  const SwapForecast half = forecast_swap(load(32, 1000), {1e-3, 0, 0, 0});
  EXPECT_GT(half.preemptions, 0);
  EXPECT_GT(half.moved_blocks, 0);
  EXPECT_NEAR(half.slow_down(), 1.8, 0.3);
  // Work that only counts rows is the same work, however it is ordered.
  EXPECT_NEAR(forecast_swap(load(32, 1000), {0, 1e-3, 0, 0}).slow_down(), 1, 1e-9);
  // Without swap space the preempted compute their prompts again.
  EXPECT_GT(forecast_swap(load(32, 0), {0, 1e-3, 0, 0}).slow_down(), 1.1);
}

TEST(SwapForecast, EveryLoadEnds) {
  for (int sequences : {1, 3, 17}) {
    for (int64_t blocks : {0, 9, 12, 40}) {
      for (int64_t swap : {0, 4, 100}) {
        SwapLoad made = load(blocks, swap);
        made.sequences = made.max_num_seqs = sequences;
        made.step_tokens = 16;
        EXPECT_GE(forecast_swap(made, {1e-3, 1e-5, 1e-9, 1e-6}).slow_down(), 0.999);
      }
    }
  }
}

}  // namespace
}  // namespace pagoda::model
