#include "model/known_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/footprint.h"
#include "model/tensor_parallel.h"

namespace pagoda::model {
namespace {

constexpr double kGiB = 1 << 30;

ModelFacts known(std::string_view name) {
  auto facts = facts_of_known_model(name);
  EXPECT_TRUE(facts) << facts.error().message;
  return facts ? *facts : ModelFacts{};
}

TEST(KnownModels, EveryRowIsWhole) {
  for (std::string_view name : known_model_names()) {
    const auto facts = facts_of_known_model(name);
    ASSERT_TRUE(facts) << name << ": " << facts.error().message;
    EXPECT_EQ(facts->name, name);
  }
}

// Parameters as the models' publishers count them, in billions.
TEST(KnownModels, ParametersArePublishedOnes) {
  const std::pair<std::string_view, double> published[] = {
      {"Llama-2-7B", 6.738},
      {"Llama-2-70B", 68.98},
      {"Llama-3.1-8B", 8.030},
      {"Llama-3.1-70B", 70.55},
      {"Llama-3.1-405B", 405.9},
      {"Llama-3.2-1B", 1.236},
      {"Llama-3.2-3B", 3.213},
      {"TinyLlama-1.1B", 1.100},
      {"Qwen2.5-0.5B", 0.494},
      {"Qwen2.5-1.5B", 1.544},
      {"Qwen2.5-3B", 3.086},
      {"Qwen2.5-7B", 7.616},
      {"Qwen2.5-14B", 14.77},
      {"Qwen2.5-32B", 32.76},
      {"Qwen2.5-72B", 72.71},
      {"Qwen3-0.6B", 0.596},
      {"Qwen3-1.7B", 1.721},
      {"Qwen3-4B", 4.022},
      {"Qwen3-8B", 8.191},
      {"Qwen3-14B", 14.77},
      {"Qwen3-32B", 32.76},
      {"Qwen3-30B-A3B", 30.53},
      {"Qwen3-235B-A22B", 235.1},
      {"Mistral-7B-v0.3", 7.248},
      {"Mistral-Nemo-2407", 12.25},
      {"Mistral-Small-24B-2501", 23.57},
      {"Mistral-Large-2411", 122.6},
      {"Mixtral-8x7B-v0.1", 46.70},
      {"Mixtral-8x22B-v0.1", 140.6},
      {"gemma-2-2b", 2.614},
      {"gemma-2-9b", 9.242},
      {"gemma-2-27b", 27.23},
      {"gemma-3-270m", 0.268},
      {"gemma-3-1b", 0.9999},
      {"gemma-3-4b", 3.880},
      {"gemma-3-12b", 11.77},
      {"gemma-3-27b", 27.01},
      {"Phi-3-mini-4k", 3.821},
      {"Phi-3-medium-128k", 13.96},
      {"phi-4", 14.66},
      {"Phi-4-mini", 3.836},
      {"DeepSeek-V2-Lite", 15.71},
      {"DeepSeek-V2", 235.7},
      {"DeepSeek-V3", 671.0},
      {"gpt-oss-20b", 20.91},
      {"gpt-oss-120b", 116.8},
      {"SmolLM2-135M", 0.1345},
      {"SmolLM2-360M", 0.3618},
      {"SmolLM2-1.7B", 1.711},
      {"SmolLM3-3B", 3.075},
      {"gpt2", 0.124},
  };
  for (const auto& [name, billions] : published) {
    EXPECT_NEAR(static_cast<double>(parameter_count(known(name))) / 1e9 / billions, 1, 0.005) << name;
  }
}

TEST(KnownModels, TokensUseTheirShareOfTheExperts) {
  const auto used = [](std::string_view name) {
    return static_cast<double>(parameters_used_per_token(known(name))) / 1e9;
  };
  EXPECT_NEAR(used("Mixtral-8x7B-v0.1"), 12.75, 0.2);
  EXPECT_NEAR(used("DeepSeek-V3"), 37, 1);
  EXPECT_NEAR(used("Qwen3-235B-A22B"), 21.5, 0.7);
  EXPECT_NEAR(used("gpt-oss-120b"), 5.1, 0.8);
}

// KV at the native context, in GiB: what planners that leave out the window, the head dimension or the latent
// form get wrong.
TEST(KnownModels, KvAtTheNativeContext) {
  const auto gib = [](std::string_view name) {
    const ModelFacts facts = known(name);
    return static_cast<double>(kv_bytes_of_sequence(kv_layout(facts), DType::kBF16, facts.context)) / kGiB;
  };
  EXPECT_NEAR(gib("gemma-3-27b"), 10.41, 0.005);
  EXPECT_NEAR(gib("DeepSeek-V3.1"), 10.72, 0.005);
  EXPECT_NEAR(gib("Qwen3-0.6B"), 4.38, 0.005);
  EXPECT_NEAR(gib("Llama-3.1-8B"), 16.0, 0.005);
  EXPECT_EQ(kv_bytes_per_token(kv_layout(known("Llama-3.1-8B")), DType::kBF16), 128 * 1024);
  // Codes of one byte, and a scale for each token and head.
  EXPECT_EQ(kv_bytes_per_token(kv_layout(known("Llama-3.1-8B")), DType::kI8), 66 * 1024);
  // Half of gpt-oss's layers see 128 tokens; a quarter of Qwen3-Next's keep KV at all.
  EXPECT_EQ(kv_layout(known("gpt-oss-20b"))[1].window, 128);
  EXPECT_EQ(kv_layout(known("gpt-oss-20b"))[1].layers.size(), 12u);
  EXPECT_EQ(kv_layout(known("Qwen3-Next-80B-A3B"))[0].layers.size(), 12u);
  EXPECT_GT(known("Qwen3-Next-80B-A3B").state_bytes, 0);
}

TEST(KnownModels, NamesAsPeopleWriteThem) {
  EXPECT_EQ(known("Qwen/Qwen2.5-7B-Instruct").layers, 28);
  EXPECT_EQ(known("qwen2.5-7b").layers, 28);
  EXPECT_EQ(known("Qwen2.5-70B-Instruct").layers, 80);
  EXPECT_EQ(known("meta-llama/Meta-Llama-3.1-8B-Instruct").vocabulary, 128256);
  EXPECT_EQ(known("meta-llama/Llama-2-7b-chat-hf").layers, 32);
  EXPECT_EQ(known("google/gemma-3-27b-it").window, 1024);
  EXPECT_EQ(known("microsoft/Phi-3-mini-4k-instruct").window, 2047);
  EXPECT_EQ(known("Qwen/Qwen2.5-7B-Instruct-AWQ").scheme.name, "awq");
  EXPECT_EQ(known("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4").scheme.name, "gptq");
  EXPECT_EQ(known("deepseek-ai/DeepSeek-R1").scheme.name, "fp8");
  EXPECT_EQ(known("openai/gpt-oss-20b").scheme.name, "mxfp4");
  EXPECT_EQ(facts_of_known_model("Qwen9").error().code, ErrorCode::kNotFound);
}

TEST(KnownModels, QuantisedCheckpointsHaveTheirPublishedSize) {
  const auto gb = [](std::string_view name) {
    const ModelFacts facts = known(name);
    return static_cast<double>(weight_bytes_of_device(facts, facts.scheme, {})) / 1e9;
  };
  EXPECT_NEAR(gb("Qwen2.5-7B-Instruct-AWQ"), 5.57, 0.06);
  EXPECT_NEAR(gb("Qwen2.5-72B-Instruct-AWQ"), 41.6, 0.5);
  EXPECT_NEAR(gb("gpt-oss-20b"), 13.76, 0.3);
  EXPECT_NEAR(gb("gpt-oss-120b"), 65.2, 1.5);
  EXPECT_NEAR(gb("Qwen2.5-7B"), 15.23, 0.03);
}

}  // namespace
}  // namespace pagoda::model
