#include "app/serve_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::app {
namespace {

TEST(ServeLine, LaterFlagsReplaceEarlierOnes) {
  const ServeLine line =
      serve_line("m", {{"max-model-len", "8192"}, {"swap-space", "4"}, {"max-model-len", "4096"}});
  EXPECT_EQ(line.text, "pagoda serve m --max-model-len 4096 --swap-space 4");
  EXPECT_EQ(line.refusal, "");
}

TEST(ServeLine, WhatServeRefusesItSaysItself) {
  EXPECT_THAT(serve_line("m", {{"tensor-parallel-size", "2"}}).refusal,
              testing::HasSubstr("tensor-parallel-size"));
  EXPECT_THAT(serve_line("m", {{"max-model-len", "0"}}).refusal, testing::HasSubstr("max-model-len"));
  EXPECT_THAT(serve_line("m", {{"no-such-flag", "1"}}).refusal, testing::HasSubstr("no-such-flag"));
}

TEST(ServeLine, IsReadBackByAShell) {
  EXPECT_EQ(serve_line("/models/my model", {}).text, "pagoda serve '/models/my model'");
  EXPECT_EQ(serve_line("it's", {}).text, "pagoda serve 'it'\\''s'");
}

}  // namespace
}  // namespace pagoda::app
