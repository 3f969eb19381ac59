#include "app/sampling_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace pagoda::app {
namespace {

using testing::HasSubstr;

class SamplingDefaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "defaults-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& text) { std::ofstream(folder_ / "generation_config.json") << text; }
  Result<SamplingDefaults> defaults() { return sampling_defaults(options_, folder_, metadata_); }
  std::string error() {
    const auto got = defaults();
    return got ? "" : got.error().message;
  }

  std::filesystem::path folder_;
  ServeOptions options_;
  model::WeightMetadata metadata_;
};

TEST_F(SamplingDefaultsTest, TheModelsFolderRecommends) {
  write(
      R"({"do_sample":true,"temperature":0.7,"top_p":0.8,"top_k":20,"repetition_penalty":1.05,"eos_token_id":[1,2]})");
  auto got = defaults();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_FLOAT_EQ(got->params.temperature, 0.7f);
  EXPECT_FLOAT_EQ(got->params.top_p, 0.8f);
  EXPECT_EQ(got->params.top_k, 20);
  EXPECT_FLOAT_EQ(got->params.repetition_penalty, 1.05f);
  EXPECT_EQ(got->text, "temperature 0.7, top_p 0.8, top_k 20, repetition_penalty 1.05");
  options_.generation_config = "vllm";
  EXPECT_FLOAT_EQ(defaults()->params.temperature, 1.f);
}

TEST_F(SamplingDefaultsTest, OverridesHaveTheLastWord) {
  write(R"({"temperature":0.7,"max_new_tokens":100})");
  options_.generation_overrides = {{"temperature", 0.2}, {"max_new_tokens", 64}};
  EXPECT_FLOAT_EQ(defaults()->params.temperature, 0.2f);
  EXPECT_EQ(defaults()->max_new_tokens, 64);
}

TEST_F(SamplingDefaultsTest, AFileOfWeightsMayRecommendToo) {
  metadata_.set("general.sampling.temp", 0.6);
  metadata_.set("general.sampling.top_k", int64_t{40});
  EXPECT_FLOAT_EQ(defaults()->params.temperature, 0.6f);
  EXPECT_EQ(defaults()->params.top_k, 40);
}

TEST_F(SamplingDefaultsTest, ADifferentFolderMayBeNamed) {
  options_.generation_config = (folder_ / "elsewhere").string();
  EXPECT_THAT(error(), HasSubstr("no such file"));
  options_.generation_config = folder_.string();
  write(R"({"min_p":0.1})");
  EXPECT_FLOAT_EQ(defaults()->params.min_p, 0.1f);
}

TEST_F(SamplingDefaultsTest, WhatIsWrongIsNamed) {
  write("[]");
  EXPECT_THAT(error(), HasSubstr("not a JSON object"));
  write(R"({"top_p":1.5})");
  EXPECT_THAT(error(), HasSubstr("top_p must be a number from 1e-06 to 1, not 1.5"));
  write(R"({"top_k":2.5})");
  EXPECT_THAT(error(), HasSubstr("top_k must be a whole number"));
  EXPECT_FALSE(check_generation_overrides({{"temprature", 1}}));
  EXPECT_FALSE(check_generation_overrides({{"temperature", "hot"}}));
  EXPECT_TRUE(check_generation_overrides({{"temperature", 1}}));
}

}  // namespace
}  // namespace pagoda::app
