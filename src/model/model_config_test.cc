#include "model/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pagoda::model {
namespace {

using testing::HasSubstr;

std::vector<std::string_view> tokens(size_t count) {
  return std::vector<std::string_view>(count, "t");
}

// The metadata of SmolLM2-135M-Instruct, as its GGUF states them.
WeightMetadata smollm2() {
  WeightMetadata metadata;
  metadata.set("general.architecture", std::string_view("llama"));
  metadata.set("general.name", std::string_view("Smollm2 135M"));
  metadata.set("llama.block_count", uint64_t{30});
  metadata.set("llama.context_length", uint64_t{8192});
  metadata.set("llama.embedding_length", uint64_t{576});
  metadata.set("llama.feed_forward_length", uint64_t{1536});
  metadata.set("llama.attention.head_count", uint64_t{9});
  metadata.set("llama.attention.head_count_kv", uint64_t{3});
  metadata.set("llama.rope.freq_base", 100000.0);
  metadata.set("llama.rope.dimension_count", uint64_t{64});
  metadata.set("llama.attention.layer_norm_rms_epsilon", 1e-5);
  metadata.set("llama.vocab_size", uint64_t{49152});
  metadata.set("tokenizer.ggml.tokens", tokens(49152));
  metadata.set("tokenizer.ggml.bos_token_id", uint64_t{1});
  metadata.set("tokenizer.ggml.eos_token_id", uint64_t{2});
  return metadata;
}

// The metadata of Gemma 3 270M.
WeightMetadata gemma3_270m() {
  WeightMetadata metadata;
  metadata.set("general.architecture", std::string_view("gemma3"));
  metadata.set("gemma3.block_count", uint64_t{18});
  metadata.set("gemma3.context_length", uint64_t{32768});
  metadata.set("gemma3.embedding_length", uint64_t{640});
  metadata.set("gemma3.feed_forward_length", uint64_t{2048});
  metadata.set("gemma3.attention.head_count", uint64_t{4});
  metadata.set("gemma3.attention.head_count_kv", uint64_t{1});
  metadata.set("gemma3.attention.key_length", uint64_t{256});
  metadata.set("gemma3.attention.value_length", uint64_t{256});
  metadata.set("gemma3.attention.layer_norm_rms_epsilon", 1e-6);
  metadata.set("gemma3.attention.sliding_window", uint64_t{512});
  metadata.set("gemma3.rope.freq_base", 1e6);
  metadata.set("tokenizer.ggml.tokens", tokens(262144));
  return metadata;
}

std::string error_of(const WeightMetadata& metadata) {
  const auto config = read_config(metadata);
  return config ? "no error" : config.error().message;
}

TEST(ModelConfig, ReadsSmolLm2) {
  const auto config = read_config(smollm2());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->layers, 30);
  EXPECT_EQ(config->hidden, 576);
  EXPECT_EQ(config->ffn, 1536);
  EXPECT_EQ(config->heads, 9);
  EXPECT_EQ(config->kv_heads, 3);
  EXPECT_EQ(config->head_dim, 64);
  EXPECT_EQ(config->rope_dims, 64);
  EXPECT_EQ(config->vocabulary, 49152);
  EXPECT_EQ(config->context, 8192);
  EXPECT_EQ(config->rope_style, RopeStyle::kInterleaved);
  EXPECT_FLOAT_EQ(config->rope_theta, 1e5f);
  EXPECT_FLOAT_EQ(config->norm_epsilon, 1e-5f);
  EXPECT_FLOAT_EQ(config->query_scale, 0.125f);
  EXPECT_FLOAT_EQ(config->embedding_scale, 1.f);
  EXPECT_EQ(config->bos, 1);
  EXPECT_EQ(config->eos, 2);
  const KvLayout layout = config->kv_layout();
  ASSERT_EQ(layout.size(), 1u);
  EXPECT_EQ(layout[0].window, 0);
  EXPECT_EQ(layout[0].layers.size(), 30u);
  EXPECT_EQ(layout[0].block_bytes(16, DType::kBF16), 16 * 23040);
}

TEST(ModelConfig, ReadsGemma3WithItsFiveLocalLayersToOne) {
  const auto config = read_config(gemma3_270m());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->head_dim, 256);
  EXPECT_EQ(config->rope_style, RopeStyle::kHalves);
  EXPECT_FLOAT_EQ(config->rope_theta, 1e6f);
  EXPECT_FLOAT_EQ(config->rope_theta_local, 1e4f);
  EXPECT_FLOAT_EQ(config->query_scale, 1.f / 16);
  EXPECT_FLOAT_EQ(config->embedding_scale, std::sqrt(640.f));
  EXPECT_EQ(config->bos, -1);
  const KvLayout layout = config->kv_layout();
  ASSERT_EQ(layout.size(), 2u);
  EXPECT_THAT(layout[0].layers, testing::ElementsAre(5, 11, 17));
  EXPECT_EQ(layout[0].window, 0);
  EXPECT_EQ(layout[1].layers.size(), 15u);
  EXPECT_EQ(layout[1].window, 512);
}

TEST(ModelConfig, TheScaleOfGemma3Of27BillionIsThatOfItsHiddenSize) {
  WeightMetadata metadata = gemma3_270m();
  metadata.set("gemma3.block_count", uint64_t{62});
  metadata.set("gemma3.embedding_length", uint64_t{5376});
  metadata.set("gemma3.attention.head_count", uint64_t{32});
  metadata.set("gemma3.attention.head_count_kv", uint64_t{16});
  metadata.set("gemma3.attention.key_length", uint64_t{128});
  metadata.set("gemma3.attention.value_length", uint64_t{128});
  metadata.set("gemma3.rope.scaling.type", std::string_view("linear"));
  metadata.set("gemma3.rope.scaling.factor", 8.0);
  const auto config = read_config(metadata);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_FLOAT_EQ(config->query_scale, 1.f / std::sqrt(168.f));
  EXPECT_FLOAT_EQ(config->rope_scale, 8.f);
}

TEST(ModelConfig, TheWindowPatternMayBeAListOrAPeriod) {
  WeightMetadata metadata = gemma3_270m();
  metadata.set("gemma3.block_count", uint64_t{3});
  metadata.set("gemma3.attention.sliding_window_pattern", std::vector<bool>{true, false, true});
  EXPECT_EQ(read_config(metadata)->layer_is_windowed, (std::vector<bool>{true, false, true}));
  metadata.set("gemma3.attention.sliding_window_pattern", uint64_t{2});
  EXPECT_EQ(read_config(metadata)->layer_is_windowed, (std::vector<bool>{true, false, true}));
  metadata.set("gemma3.attention.sliding_window_pattern", std::vector<bool>{true});
  EXPECT_THAT(error_of(metadata), HasSubstr("gemma3.attention.sliding_window_pattern has 1 entries for 3"));
}

TEST(ModelConfig, DefaultsAreTheFormatsOwn) {
  WeightMetadata source = smollm2(), metadata;
  for (const auto& [key, value] : source.values()) {
    if (key != "llama.attention.head_count_kv" && key != "llama.rope.freq_base" &&
        key != "llama.rope.dimension_count" && key != "tokenizer.ggml.tokens" &&
        !key.starts_with("tokenizer.ggml"))
      metadata.set(key, value);
  }
  const auto config = read_config(metadata);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->kv_heads, 9);
  EXPECT_FLOAT_EQ(config->rope_theta, 10000.f);
  EXPECT_EQ(config->rope_dims, 64);
  EXPECT_EQ(config->vocabulary, 49152);  // from vocab_size, there being no tokens
}

TEST(ModelConfig, PerLayerListsCountWhereTheyAreEven) {
  WeightMetadata metadata = smollm2();
  metadata.set("llama.feed_forward_length", std::vector<int64_t>(30, 1536));
  EXPECT_EQ(read_config(metadata)->ffn, 1536);
  metadata.set("llama.feed_forward_length", std::vector<int64_t>{1536, 768});
  EXPECT_THAT(error_of(metadata), HasSubstr("llama.feed_forward_length differs from layer to layer"));
}

struct BadValue {
  const char* key;
  WeightMetadata::Value value;
  const char* message;
};

TEST(ModelConfig, EveryBadValueIsNamedByItsKey) {
  const BadValue cases[] = {
      {"general.architecture", std::string_view("mamba"),
       "'mamba' (general.architecture) is not supported; supported are llama, qwen2, qwen3, gemma3"},
      {"llama.block_count", uint64_t{0}, "llama.block_count is 0, not in 1 to 1024"},
      {"llama.block_count", int64_t{-3}, "llama.block_count is -3"},
      {"llama.block_count", uint64_t{1} << 63, "llama.block_count is not a whole number"},
      {"llama.block_count", std::string_view("30"), "llama.block_count is not a whole number"},
      {"llama.embedding_length", uint64_t{577}, "llama.embedding_length is 577, no multiple of its 9 heads"},
      {"llama.attention.head_count_kv", uint64_t{4}, "no multiple of the 4 of llama.attention.head_count_kv"},
      {"llama.attention.value_length", uint64_t{32}, "llama.attention.value_length is 32 and keys have 64"},
      {"llama.attention.layer_norm_rms_epsilon", std::numeric_limits<double>::quiet_NaN(),
       "layer_norm_rms_epsilon is nan"},
      {"llama.rope.freq_base", -1.0, "llama.rope.freq_base is -1"},
      {"llama.rope.dimension_count", uint64_t{66}, "llama.rope.dimension_count is 66, not in 2 to 64"},
      {"llama.rope.scaling.type", std::string_view("yarn"), "llama.rope.scaling.type is yarn"},
      {"llama.expert_count", uint64_t{8}, "llama.expert_count has a value that is not supported"},
      {"llama.attention.sliding_window", -5.0, "llama.attention.sliding_window"},
      {"llama.attention.causal", false, "only causal models"},
      {"tokenizer.ggml.eos_token_id", uint64_t{49152},
       "tokenizer.ggml.eos_token_id is not a token of the 49152"},
  };
  for (const BadValue& bad : cases) {
    WeightMetadata metadata = smollm2();
    metadata.set(bad.key, bad.value);
    EXPECT_THAT(error_of(metadata), HasSubstr(bad.message));
  }
}

TEST(ModelConfig, EveryMissingKeyIsNamed) {
  for (const char* missing : {"general.architecture", "llama.block_count", "llama.context_length",
                              "llama.embedding_length", "llama.feed_forward_length",
                              "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon"}) {
    WeightMetadata metadata;
    const WeightMetadata whole = smollm2();
    for (const auto& [key, value] : whole.values()) {
      if (key != missing) metadata.set(key, value);
    }
    EXPECT_THAT(error_of(metadata), HasSubstr(std::string("lack the key ") + missing));
  }
}

TEST(ModelConfig, LinearScalingHasAnOlderName) {
  WeightMetadata metadata = smollm2();
  metadata.set("llama.rope.scale_linear", 4.0);
  EXPECT_FLOAT_EQ(read_config(metadata)->rope_scale, 4.f);
  metadata.set("llama.rope.scaling.type", std::string_view("none"));
  EXPECT_FLOAT_EQ(read_config(metadata)->rope_scale, 1.f);
}

}  // namespace
}  // namespace pagoda::model
