#include "app/model_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace pagoda::app {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const FromHub kNoHub = [](const std::string& name) -> Result<fs::path> {
  return fail(ErrorCode::kNotFound, "asked the hub for " + name);
};

class ModelCache : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("model_cache_test_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    write("SmolLM2-135M-Instruct.Q4_1.gguf");
    write("gemma/gemma-3-270m.gguf");
    write("two/a.gguf");
    write("two/b.gguf");
    write("notes.txt");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& path) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << "GGUF";
  }
  std::string error_of(const std::string& argument) {
    const auto result = resolve_model(argument, folder_, kNoHub);
    return result ? "resolved to " + result->string() : result.error().message;
  }

  fs::path folder_;
};

TEST_F(ModelCache, ListsFilesAndFolders) {
  std::vector<std::string> names;
  for (const auto& model : list_models(folder_)) {
    names.push_back(model.name);
    EXPECT_EQ(model.bytes, 4);
  }
  EXPECT_THAT(names, testing::ElementsAre("SmolLM2-135M-Instruct.Q4_1", "a", "b", "gemma"));
}

TEST_F(ModelCache, NamesInAnySpelling) {
  const fs::path smol = folder_ / "SmolLM2-135M-Instruct.Q4_1.gguf";
  EXPECT_EQ(resolve_model("smollm2-135m-instruct.q4_1", folder_, kNoHub), smol);
  EXPECT_EQ(resolve_model("SmolLM2-135M-Instruct.Q4_1.gguf", folder_, kNoHub), smol);
  EXPECT_EQ(resolve_model("gemma", folder_, kNoHub), folder_ / "gemma/gemma-3-270m.gguf");
  EXPECT_EQ(resolve_model("gemma-3-270m", folder_, kNoHub), folder_ / "gemma/gemma-3-270m.gguf");
}

TEST_F(ModelCache, PathsWinOverNames) {
  const fs::path file = folder_ / "two/a.gguf";
  EXPECT_EQ(resolve_model(file.string(), folder_, kNoHub), file);
  EXPECT_EQ(resolve_model((folder_ / "gemma").string(), "/nowhere", kNoHub),
            folder_ / "gemma/gemma-3-270m.gguf");
}

TEST_F(ModelCache, SaysWhyNot) {
  EXPECT_THAT(error_of((folder_ / "two").string()), HasSubstr("holds 2 models: a.gguf, b.gguf"));
  EXPECT_THAT(error_of("gema"), HasSubstr("did you mean gemma?"));
  EXPECT_THAT(error_of("Qwen2.5-7B-Instruct"), HasSubstr("in the cache: SmolLM2"));
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT(error_of((folder_ / "empty").string()), HasSubstr("without a .gguf file"));
  fs::create_directories(folder_ / "hf");
  std::ofstream(folder_ / "hf/config.json") << "{}";
  EXPECT_EQ(resolve_model((folder_ / "hf").string(), "/nowhere", kNoHub), folder_ / "hf");
  EXPECT_THAT(error_of("Org/Model"), HasSubstr("asked the hub for Org/Model"));
  const FromHub hub = [&](const std::string&) -> Result<fs::path> { return folder_ / "gemma"; };
  EXPECT_EQ(resolve_model("Org/Model-GGUF", folder_, hub), folder_ / "gemma/gemma-3-270m.gguf");
  const auto nothing = resolve_model("x", "/nowhere", kNoHub);
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, HasSubstr("the model cache is empty"));
}

TEST(ModelCacheFolder, FollowsTheEnvironment) {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const std::string before = xdg == nullptr ? "" : xdg;
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(model_cache_folder(), "/x/pagoda/models");
  before.empty() ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", before.c_str(), 1);
}

}  // namespace
}  // namespace pagoda::app
