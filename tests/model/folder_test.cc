// Small Hugging Face folders of every architecture (folders/, tools/make_tiny_folders.py): ids as
// `tokenizers` gives them, logits as transformers computes them.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/weight_source.h"
#include "model_under_test.h"
#include "text/tokenizer.h"

namespace pagoda::model {
namespace {

using Json = nlohmann::json;

class Folder : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = std::string(PAGODA_SOURCE_DIR) + "/tests/model/folders/" + GetParam();
    golden_ = Json::parse(std::ifstream(path_ + "/golden.json"));
  }

  std::string path_;
  Json golden_;
};

TEST_P(Folder, IdsAreTheReferences) {
  auto source = open_weights(path_);
  ASSERT_TRUE(source) << source.error().message;
  auto tokenizer = text::load_tokenizer((*source)->metadata());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  for (const Json& prompt : golden_["prompts"]) {
    const auto text = prompt["text"].get<std::string>();
    EXPECT_EQ((*tokenizer)->encode(text, {}), prompt["ids"].get<std::vector<int32_t>>()) << text;
  }
  EXPECT_FALSE((*tokenizer)->end_tokens().empty());
  EXPECT_TRUE((*source)->metadata().text("tokenizer.chat_template"));
}

TEST_P(Folder, LogitsAreTheReferences) {
  ModelUnderTest model(path_, Precision::kFloat32);
  for (const int step : {512, 7}) {
    for (const Json& prompt : golden_["prompts"]) {
      const auto ids = prompt["ids"].get<std::vector<int32_t>>();
      const auto wanted = prompt["logits"].get<std::vector<float>>();
      model.run(ids, step, [&](int position, std::span<const float> logits) {
        if (position + 1 != static_cast<int>(ids.size())) return;
        ASSERT_EQ(logits.size(), wanted.size());
        float most = 0;
        for (size_t i = 0; i < wanted.size(); ++i) most = std::max(most, std::abs(logits[i] - wanted[i]));
        EXPECT_LE(most, 1e-3f) << prompt["text"] << ", in steps of " << step;
      });
    }
  }
}

// As served: 16-bit weights as they are stored.
TEST_P(Folder, RunsInItsOwnPrecision) {
  ModelUnderTest model(path_, Precision::kAuto);
  for (const Json& prompt : golden_["prompts"]) {
    const auto ids = prompt["ids"].get<std::vector<int32_t>>();
    const auto wanted = prompt["logits"].get<std::vector<float>>();
    model.run(ids, 512, [&](int position, std::span<const float> logits) {
      if (position + 1 != static_cast<int>(ids.size())) return;
      double error = 0, size = 0;
      for (size_t i = 0; i < wanted.size(); ++i) {
        error += (logits[i] - wanted[i]) * (logits[i] - wanted[i]);
        size += wanted[i] * wanted[i];
      }
      EXPECT_LE(error, 1e-3 * size) << prompt["text"];
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, Folder,
                         testing::Values("llama2", "llama3", "mistral", "qwen2", "qwen3", "gemma3"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace pagoda::model
