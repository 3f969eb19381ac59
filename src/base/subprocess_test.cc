#include "base/subprocess.h"

#include <gtest/gtest.h>

#include <csignal>

namespace pagoda {
namespace {

TEST(Subprocess, BothOutputsInputAndCode) {
  const auto done = run_captured({{"sh", "-c", "cat; echo two >&2; exit 3"}, {}, "one"});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, "one");
  EXPECT_EQ(done->errors, "two\n");
  EXPECT_EQ(done->exit_code, 3);
}

TEST(Subprocess, MoreThanAPipeHoldsBothWays) {
  const std::string much(1 << 20, 'x');
  const auto done = run_captured({{"sh", "-c", "tee /dev/stderr"}, {}, much});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output.size(), much.size());
  EXPECT_EQ(done->errors.size(), much.size());
}

TEST(Subprocess, AChildThatDoesNotRead) {
  const auto done = run_captured({{"true"}, {}, std::string(1 << 20, 'x')});
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->ok());
}

TEST(Subprocess, GivenEnvironmentOnly) {
  const auto done = run_captured({{"env"}, std::vector<std::string>{"ONLY=1"}, ""});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, "ONLY=1\n");
}

TEST(Subprocess, NoSuchProgramAndSignals) {
  EXPECT_EQ(run_captured({{"no-such-program"}, {}, ""}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(run_captured({{"sh", "-c", "kill -9 $$"}, {}, ""})->exit_code, 128 + SIGKILL);
  EXPECT_EQ(find_program("no-such-program"), std::nullopt);
  EXPECT_TRUE(find_program("sh"));
}

TEST(Subprocess, WordsAsAShellTakesThem) {
  EXPECT_EQ(shell_words({"a", "b c", "it's", "", "/x-1=y"}), "a 'b c' 'it'\\''s' '' /x-1=y");
}

}  // namespace
}  // namespace pagoda
