#include "app/hugging_face_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace pagoda::app {
namespace {

using testing::HasSubstr;

TEST(HuggingFaceCache, KnowsAHubsNames) {
  for (const char* name : {"Qwen/Qwen2.5-7B-Instruct", "a/b"}) EXPECT_TRUE(is_hub_name(name)) << name;
  for (const char* other : {"model.gguf", "/models/a", "a/b/c", "a/", "./a", "../a", "a/..", "a b/c", ""})
    EXPECT_FALSE(is_hub_name(other)) << other;
}

TEST(HuggingFaceCache, FindsTheSnapshotOfMain) {
  namespace fs = std::filesystem;
  const fs::path hub = testing::TempDir() + "pagoda_hub_test_" + std::to_string(::getpid());
  ::setenv("HF_HUB_CACHE", hub.c_str(), 1);
  const auto missing = snapshot_of("Org/Model-1");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("hf download Org/Model-1"));
  fs::create_directories(hub / "models--Org--Model-1" / "refs");
  fs::create_directories(hub / "models--Org--Model-1" / "snapshots" / "abc");
  std::ofstream(hub / "models--Org--Model-1" / "refs" / "main") << "abc\n";
  const auto found = snapshot_of("Org/Model-1");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, hub / "models--Org--Model-1" / "snapshots" / "abc");
  ::unsetenv("HF_HUB_CACHE");
  fs::remove_all(hub);
}

}  // namespace
}  // namespace pagoda::app
