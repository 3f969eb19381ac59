#include "api/openai/model_names.h"

#include <gtest/gtest.h>

namespace pagoda::api {
namespace {

TEST(ModelNames, KnowsAliasPathAndBaseName) {
  const ModelNames names{{"chat", "other"}, "/models/SmolLM2.Q4_1.gguf"};
  for (const char* name :
       {"", "chat", "other", "/models/SmolLM2.Q4_1.gguf", "SmolLM2.Q4_1.gguf", "SmolLM2.Q4_1"}) {
    EXPECT_TRUE(names.matches(name)) << name;
  }
  for (const char* name : {"Chat", "SmolLM2", "models/SmolLM2.Q4_1.gguf", "/", "gguf", ".gguf"}) {
    EXPECT_FALSE(names.matches(name)) << name;
  }
}

TEST(ModelNames, KnowsAFolder) {
  const ModelNames names{{"/models/Qwen2.5-7B-Instruct"}, "/models/Qwen2.5-7B-Instruct/"};
  EXPECT_TRUE(names.matches("Qwen2.5-7B-Instruct"));
  EXPECT_TRUE(names.matches("/models/Qwen2.5-7B-Instruct/"));
  EXPECT_TRUE(names.matches("/models/Qwen2.5-7B-Instruct"));
  EXPECT_FALSE(names.matches("Qwen2.5-7B"));
}

TEST(ModelNames, DerivesANameFromAPath) {
  EXPECT_EQ(model_name_of_path("/models/Qwen2.5-7B/"), "Qwen2.5-7B");
  EXPECT_EQ(model_name_of_path("m.Q4_1.gguf"), "m.Q4_1");
  EXPECT_EQ(model_name_of_path(".gguf"), ".gguf");
}

}  // namespace
}  // namespace pagoda::api
