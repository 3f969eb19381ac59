#include "container/runtime_call.h"

#include <gtest/gtest.h>

#include <vector>

namespace pagoda::container {
namespace {

RuntimeCall read(const std::vector<std::string>& words) {
  return read_runtime_call(words);
}

TEST(RuntimeCall, AsContainerdAndPodmanWriteIt) {
  const auto call = read({"--root", "/run/create", "--log", "/b/log.json", "--log-format", "json", "create",
                          "--bundle", "/b", "--pid-file", "/p", "id"});
  EXPECT_TRUE(call.creates);
  EXPECT_EQ(call.bundle, "/b");
  EXPECT_EQ(call.log_file, "/b/log.json");
  EXPECT_TRUE(call.log_is_json);
  EXPECT_EQ(read({"create", "-b", "/c", "id"}).bundle, "/c");
  EXPECT_EQ(read({"run", "--bundle=/d", "id"}).bundle, "/d");
  EXPECT_EQ(read({"run", "id"}).bundle, ".");
}

TEST(RuntimeCall, EverythingElsePassesThrough) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {}, {"--version"}, {"delete", "create"}, {"--root", "create", "kill", "x"}, {"--log"}}) {
    EXPECT_FALSE(read(words).creates);
  }
}

}  // namespace
}  // namespace pagoda::container
