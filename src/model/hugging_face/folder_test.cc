#include "model/hugging_face/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/hugging_face/tensor_names.h"
#include "model/hugging_face/tokenizer_json.h"

namespace pagoda::model {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json llama_config() {
  return {{"model_type", "llama"},    {"hidden_size", 64},      {"intermediate_size", 128},
          {"num_attention_heads", 4}, {"num_hidden_layers", 1}, {"max_position_embeddings", 512},
          {"rms_norm_eps", 1e-5},     {"vocab_size", 400}};
}

std::string fault_of_config(const Json& changes) {
  Json config = llama_config();
  config.update(changes);
  TextStore texts;
  WeightMetadata metadata;
  const auto read = read_config_json(config, texts, metadata);
  return read ? "no fault" : read.error().message;
}

TEST(ConfigJson, RefusesArithmeticThatIsNotThere) {
  EXPECT_EQ(fault_of_config(Json::object()), "no fault");
  EXPECT_THAT(fault_of_config({{"model_type", "mamba"}}),
              HasSubstr("'mamba' is not supported; supported are llama"));
  EXPECT_THAT(fault_of_config({{"attention_bias", true}}), HasSubstr("attention_bias is true"));
  EXPECT_THAT(fault_of_config({{"hidden_act", "relu"}}), HasSubstr("hidden_act is \"relu\""));
  EXPECT_THAT(fault_of_config({{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4}}}}),
              HasSubstr("'yarn'"));
}

TEST(ConfigJson, Llama3ScalesLongWavesOnly) {
  Json config = llama_config();
  config["rope_theta"] = 500000.0;
  config["rope_scaling"] = {{"rope_type", "llama3"},
                            {"factor", 8.0},
                            {"low_freq_factor", 1.0},
                            {"high_freq_factor", 4.0},
                            {"original_max_position_embeddings", 64}};
  TextStore texts;
  WeightMetadata metadata;
  const auto read = read_config_json(config, texts, metadata);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->rope_divisors.size(), 8u);
  EXPECT_FLOAT_EQ(read->rope_divisors.front(), 1.f) << "a wave of 6 tokens";
  EXPECT_FLOAT_EQ(read->rope_divisors.back(), 8.f) << "a wave of 600,000";
}

TEST(TensorNames, AreGgufs) {
  EXPECT_EQ(gguf_name_of("model.layers.12.self_attn.q_proj.weight", "llama"), "blk.12.attn_q.weight");
  EXPECT_EQ(gguf_name_of("model.layers.0.post_attention_layernorm.weight", "llama"), "blk.0.ffn_norm.weight");
  EXPECT_EQ(gguf_name_of("model.layers.0.post_attention_layernorm.weight", "gemma3"),
            "blk.0.post_attention_norm.weight");
  EXPECT_EQ(gguf_name_of("language_model.model.embed_tokens.weight", "gemma3"), "token_embd.weight");
  EXPECT_EQ(gguf_name_of("lm_head.weight", "llama"), "output.weight");
  for (const char* other :
       {"vision_tower.x.weight", "model.layers.x.mlp.up_proj.weight", "model.layers.1", "", "."})
    EXPECT_EQ(gguf_name_of(other, "llama"), "") << other;
}

std::string fault_of_tokenizer(const Json& tokenizer) {
  TextStore texts;
  WeightMetadata metadata;
  const auto read = read_tokenizer_json(tokenizer, 0, texts, metadata);
  return read ? "no fault" : read.error().message;
}

TEST(TokenizerJson, NamesWhatIsBroken) {
  const Json byte_level = {{"type", "ByteLevel"}};
  Json file = {{"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}}, {"merges", {"a b"}}}},
               {"pre_tokenizer", byte_level}};
  EXPECT_EQ(fault_of_tokenizer(file), "no fault");
  const auto with = [&](const char* key, const Json& value) {
    Json changed = file;
    changed[key] = value;
    return fault_of_tokenizer(changed);
  };
  EXPECT_THAT(with("added_tokens", {{{"content", "x"}}}), HasSubstr("lacks id or content"));
  EXPECT_THAT(with("added_tokens", {{{"content", "x"}, {"id", -5}}}), HasSubstr("absurd"));
  EXPECT_THAT(fault_of_tokenizer(Json::array()), HasSubstr("no JSON object"));
  file["model"]["merges"] = {"ab"};
  EXPECT_THAT(fault_of_tokenizer(file), HasSubstr("a merge is not two pieces"));
}

// Byte-level BPE is translated for the fast tokenizer, everything else is kept whole for the pipeline.
TEST(TokenizerJson, KeepsWhatTheFastTokenizersDoNot) {
  const Json byte_level = {{"type", "ByteLevel"}};
  const Json file = {
      {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}}, {"merges", {"a b"}}}},
      {"pre_tokenizer", byte_level}};
  const auto tokenizer_of = [&](const char* key, const Json& value) {
    Json changed = file;
    changed[key] = value;
    TextStore texts;
    WeightMetadata metadata;
    const Status read = read_tokenizer_json(changed, 0, texts, metadata);
    return read ? std::string(metadata.text("tokenizer.ggml.model").value_or("")) : read.error().message;
  };
  EXPECT_EQ(tokenizer_of("normalizer", nullptr), "gpt2");
  EXPECT_EQ(tokenizer_of("normalizer", {{"type", "Lowercase"}}), "tokenizer.json");
  EXPECT_EQ(tokenizer_of("pre_tokenizer",
                         {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Whitespace"}}, byte_level}}}),
            "tokenizer.json");
  EXPECT_EQ(tokenizer_of("pre_tokenizer", nullptr), "tokenizer.json");
  const Json special = {{"id", 3}, {"content", "<s>"}, {"special", true}};
  Json stripping = special;
  stripping["rstrip"] = true;
  EXPECT_EQ(tokenizer_of("added_tokens", Json::array({special})), "gpt2");
  EXPECT_EQ(tokenizer_of("added_tokens", Json::array({stripping})), "tokenizer.json");
  EXPECT_THAT(tokenizer_of("model", {{"type", "Unigram"}}), HasSubstr("model.vocab is no vocabulary"));
}

TEST(HuggingFaceFolder, NamesTheMissingFile) {
  const std::filesystem::path folder =
      testing::TempDir() + "pagoda_folder_test_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const auto fault = [&] {
    const auto opened = HuggingFaceFolder::open(folder.string());
    return opened ? std::string("no fault") : opened.error().message;
  };
  EXPECT_THAT(fault(), HasSubstr("config.json is missing"));
  std::ofstream(folder / "config.json") << "{";
  EXPECT_THAT(fault(), HasSubstr("config.json: no valid JSON"));
  std::ofstream(folder / "config.json") << llama_config();
  EXPECT_THAT(fault(), HasSubstr("tokenizer.json is missing"));
  std::ofstream(folder / "tokenizer.json")
      << R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"pre_tokenizer":{"type":"ByteLevel"}})";
  EXPECT_THAT(fault(), HasSubstr("no *.safetensors in the folder"));
  std::ofstream(folder / "model.safetensors.index.json")
      << R"({"weight_map":{"a":"model-00002.safetensors"}})";
  EXPECT_THAT(fault(), HasSubstr("the shard model-00002.safetensors is missing"));
  std::ofstream(folder / "model.safetensors.index.json") << R"({"weight_map":{"a":"../../etc/passwd"}})";
  EXPECT_THAT(fault(), HasSubstr("names no file of the folder"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pagoda::model
