#include "model/hugging_face/config_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "model/footprint.h"

namespace pagoda::model {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json llama() {
  return {{"model_type", "llama"},          {"num_hidden_layers", 2},   {"hidden_size", 64},
          {"intermediate_size", 128},       {"num_attention_heads", 4}, {"num_key_value_heads", 2},
          {"max_position_embeddings", 512}, {"vocab_size", 100}};
}

std::string error_of(const json& config) {
  const auto facts = facts_of_config_json(config);
  return facts ? "no error" : facts.error().message;
}

TEST(ConfigFacts, HeadDimIsTheWidthsShareUnlessGiven) {
  EXPECT_EQ(facts_of_config_json(llama())->head_dim, 16);
  json config = llama();
  config["head_dim"] = 32;
  EXPECT_EQ(facts_of_config_json(config)->head_dim, 32);
}

// Gemma 3's published files leave out what its config class fills in, and keep the language part apart.
TEST(ConfigFacts, Gemma3FilesAreFilledIn) {
  const json config = {{"model_type", "gemma3"},
                       {"torch_dtype", "bfloat16"},
                       {"text_config",
                        {{"model_type", "gemma3_text"},
                         {"head_dim", 128},
                         {"hidden_size", 5376},
                         {"intermediate_size", 21504},
                         {"num_attention_heads", 32},
                         {"num_hidden_layers", 62},
                         {"num_key_value_heads", 16},
                         {"sliding_window", 1024}}}};
  const auto facts = facts_of_config_json(config);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->context, 131072);
  EXPECT_TRUE(facts->tied_output);
  EXPECT_NEAR(static_cast<double>(kv_bytes_of_sequence(kv_layout(*facts), DType::kBF16, 131072)) / (1 << 30),
              10.41, 0.005);
}

TEST(ConfigFacts, WindowsByListPeriodAndSwitch) {
  json config = llama();
  config["model_type"] = "mistral";
  config["sliding_window"] = 64;
  EXPECT_EQ(kv_layout(*facts_of_config_json(config)).front().window, 64);
  config["layer_types"] = {"full_attention", "sliding_attention"};
  EXPECT_EQ(kv_layout(*facts_of_config_json(config)).size(), 2u);
  config["layer_types"] = {"linear_attention", "full_attention"};
  config["linear_num_value_heads"] = 2;
  config["linear_key_head_dim"] = config["linear_value_head_dim"] = 8;
  EXPECT_EQ(kv_layout(*facts_of_config_json(config)).front().layers.size(), 1u);
  EXPECT_EQ(facts_of_config_json(config)->state_bytes, 4 * 2 * 8 * 8);
  config.erase("layer_types");
  config["model_type"] = "qwen2";
  config["use_sliding_window"] = false;
  EXPECT_EQ(kv_layout(*facts_of_config_json(config)).front().window, 0);
}

TEST(ConfigFacts, QuantisedFormats) {
  const auto scheme = [](json quantisation) {
    json config = llama();
    config["quantization_config"] = std::move(quantisation);
    return facts_of_config_json(config)->scheme;
  };
  EXPECT_DOUBLE_EQ(scheme({{"quant_method", "awq"}, {"bits", 4}, {"group_size", 128}}).linear_bits,
                   4 + 20 / 128.0);
  EXPECT_DOUBLE_EQ(scheme({{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 32}}).linear_bits,
                   4 + 20 / 32.0);
  EXPECT_EQ(scheme({{"quant_method", "gptq"}, {"bits", 8}}).name, "gptq-8bit");
  EXPECT_EQ(scheme({{"quant_method", "fp8"}}).linear_bits, 8);
  const json groups = {{"group_0", {{"weights", {{"num_bits", 4}, {"group_size", 128}}}}}};
  EXPECT_EQ(scheme({{"quant_method", "compressed-tensors"}, {"config_groups", groups}}).name,
            "compressed-tensors-w4a16");
  EXPECT_EQ(scheme({{"quant_method", "of tomorrow"}}).name, "bf16");
}

// The largest numbers that pass are planned without overflow.
TEST(ConfigFacts, HugeNumbersAreRefusedOrSaturate) {
  for (const int64_t huge : {int64_t{1} << 12, int64_t{1} << 16, int64_t{1} << 20, int64_t{1} << 28,
                             std::numeric_limits<int64_t>::max()}) {
    json config = llama();
    for (const char* key : {"hidden_size", "intermediate_size", "head_dim", "vocab_size", "kv_lora_rank",
                            "q_lora_rank", "n_routed_experts", "moe_intermediate_size", "n_shared_experts",
                            "linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim"})
      config[key] = huge;
    config["num_experts_per_tok"] = 1;
    config["num_hidden_layers"] = 4096;
    config["full_attention_interval"] = 2;
    const auto facts = facts_of_config_json(config);
    if (facts) {
      EXPECT_GT(parameter_count(*facts), 0);
    }
  }
}

TEST(ConfigFacts, WhatIsMissingOrAbsurdIsNamed) {
  EXPECT_THAT(error_of(json::array()), HasSubstr("no JSON object"));
  EXPECT_THAT(error_of(json::object()), HasSubstr("no model_type"));
  for (const char* key : {"num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"}) {
    json config = llama();
    config.erase(key);
    EXPECT_THAT(error_of(config), HasSubstr(key));
  }
  json config = llama();
  config["num_hidden_layers"] = 1'000'000;
  EXPECT_THAT(error_of(config), HasSubstr("1000000 layers"));
  config = llama();
  config["num_key_value_heads"] = 3;
  EXPECT_THAT(error_of(config), HasSubstr("no multiple of 3 KV heads"));
  config = llama();
  config["hidden_size"] = -5;
  EXPECT_THAT(error_of(config), HasSubstr("hidden_size"));
  config = llama();
  config["num_attention_heads"] = 0;
  EXPECT_THAT(error_of(config), HasSubstr("heads is 0"));
  config = llama();
  config["hidden_size"] = "wide";
  EXPECT_THAT(error_of(config), HasSubstr("hidden_size"));
  config = llama();
  config["layer_types"] = {"full_attention"};
  EXPECT_THAT(error_of(config), HasSubstr("layer_types has 1 entries for 2 layers"));
}

}  // namespace
}  // namespace pagoda::model
