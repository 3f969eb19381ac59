#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hub/content_digest.h"
#include "hub/file_patterns.h"
#include "hub/hub_cache.h"
#include "hub/hub_settings.h"

namespace pagoda::hub {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

TEST(HubName, IsAnOrganisationAndAName) {
  for (const char* name : {"Qwen/Qwen2.5-7B-Instruct", "a/b"}) EXPECT_TRUE(is_hub_name(name)) << name;
  for (const char* other : {"model.gguf", "/models/a", "a/b/c", "a/", "./a", "../a", "a/..", "a b/c", ""})
    EXPECT_FALSE(is_hub_name(other)) << other;
}

TEST(ContentDigest, IsWhatHubsAndGitSay) {
  ContentDigest sha(DigestKind::kSha256, 3);
  sha.add("a");
  sha.add("bc");
  EXPECT_EQ(sha.hexadecimal(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // `printf hello | git hash-object --stdin`
  ContentDigest git(DigestKind::kGitSha1, 5);
  git.add("hello");
  EXPECT_EQ(git.hexadecimal(), "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0");
}

TEST(FilePatterns, WorkLikeAShellsButCrossFolders) {
  EXPECT_TRUE(FilePatterns{}.wants("a/b"));
  const FilePatterns some{{"*.json", "onnx/"}, {"*secret*"}};
  EXPECT_TRUE(some.wants("config.json"));
  EXPECT_TRUE(some.wants("1_Pooling/config.json"));
  EXPECT_TRUE(some.wants("onnx/deep/model.bin"));
  EXPECT_FALSE(some.wants("model.bin"));
  EXPECT_FALSE(some.wants("secret.json"));
}

class Cache : public testing::Test {
 protected:
  Cache() : root_(fs::path(testing::TempDir()) / ("pagoda_hub_test_" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
  }
  ~Cache() override { fs::remove_all(root_); }
  void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  fs::path root_;
};

TEST_F(Cache, LinksAndRefsAreReadBack) {
  const ModelFolder folder(root_, "Org/Model-1");
  EXPECT_EQ(folder.path(), root_ / "models--Org--Model-1");
  EXPECT_EQ(folder.find("main"), "");
  write(folder.blob("e1"), "content");
  ASSERT_TRUE(folder.link("abc1234", "1_Pooling/config.json", "e1"));
  ASSERT_TRUE(folder.link("abc1234", "1_Pooling/config.json", "e1")) << "twice is fine";
  ASSERT_TRUE(folder.write_ref("main", "abc1234"));
  EXPECT_EQ(folder.find("main"), folder.snapshot("abc1234"));
  EXPECT_EQ(folder.find("abc1234"), folder.snapshot("abc1234"));
  EXPECT_EQ(folder.find("v2"), "");
  std::string content;
  std::ifstream(folder.find("main") / "1_Pooling/config.json") >> content;
  EXPECT_EQ(content, "content");
  EXPECT_EQ(fs::read_symlink(folder.find("main") / "1_Pooling/config.json"), "../../../blobs/e1");
  write(folder.path() / "refs/evil", "../../..");
  EXPECT_EQ(folder.find("evil"), "") << "a ref never leads outside";
}

TEST_F(Cache, SaysWhatASnapshotLacks) {
  write(root_ / "config.json", "{}");
  EXPECT_EQ(missing_parts(root_).size(), 1u) << "no weights";
  write(
      root_ / "model.safetensors.index.json",
      R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"}})");
  write(root_ / "model-1.safetensors", "");
  EXPECT_THAT(missing_parts(root_), ElementsAre("model-2.safetensors"));
  write(root_ / "model-2.safetensors", "");
  EXPECT_THAT(missing_parts(root_), ElementsAre());
}

TEST_F(Cache, SettingsFollowTheEnvironment) {
  const char* names[] = {"HF_ENDPOINT",         "HF_TOKEN",       "HF_HOME",
                         "HF_HUB_CACHE",        "HF_HUB_OFFLINE", "HF_TOKEN_PATH",
                         "TRANSFORMERS_OFFLINE"};
  for (const char* name : names) ::unsetenv(name);
  ::setenv("HF_HOME", root_.c_str(), 1);
  write(root_ / "token", " hf_file\n");
  HubSettings settings = settings_from_environment();
  EXPECT_EQ(settings.cache, root_ / "hub");
  EXPECT_EQ(settings.token, "hf_file");
  EXPECT_EQ(settings.token_origin, (root_ / "token").string());
  EXPECT_FALSE(settings.offline);
  ::setenv("HF_TOKEN", "hf_variable", 1);
  ::setenv("HF_ENDPOINT", "http://127.0.0.1:1/", 1);
  ::setenv("HF_HUB_CACHE", "/somewhere", 1);
  ::setenv("HF_HUB_OFFLINE", "yes", 1);
  settings = settings_from_environment();
  EXPECT_EQ(settings.token, "hf_variable");
  EXPECT_EQ(settings.endpoint, "http://127.0.0.1:1");
  EXPECT_EQ(settings.cache, "/somewhere");
  EXPECT_TRUE(settings.offline);
  for (const char* name : names) ::unsetenv(name);
}

}  // namespace
}  // namespace pagoda::hub
