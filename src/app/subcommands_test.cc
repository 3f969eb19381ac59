#include "app/subcommands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace pagoda::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Call call_of(std::vector<const char*> argv) {
  return read_call(argv);
}

std::string stderr_of(std::vector<const char*> argv, int expected_exit) {
  testing::internal::CaptureStderr();
  const int code = dispatch(argv);
  std::fflush(stderr);
  EXPECT_EQ(code, expected_exit);
  return testing::internal::GetCapturedStderr();
}

TEST(Subcommands, NamesAndLinksAreUnique) {
  std::set<std::string_view> seen;
  for (const auto& row : subcommands()) {
    EXPECT_TRUE(seen.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.summary.empty()) << row.name;
    for (std::string_view link : row.stands_for) {
      if (link != row.name) {
        EXPECT_TRUE(seen.insert(link).second) << link;
      }
    }
  }
}

TEST(Subcommands, ReadsThePlainForms) {
  EXPECT_EQ(call_of({"pagoda"}).kind, Call::Kind::kOverview);
  EXPECT_EQ(call_of({"/usr/bin/pagoda", "--version"}).kind, Call::Kind::kVersion);
  EXPECT_EQ(call_of({"pagoda", "--help"}).kind, Call::Kind::kHelp);
  const Call serve = call_of({"pagoda", "serve", "m.gguf", "--port", "1"});
  EXPECT_EQ(serve.kind, Call::Kind::kRun);
  EXPECT_EQ(serve.invocation.program, "pagoda serve");
  EXPECT_FALSE(serve.invocation.drop_in);
  EXPECT_THAT(serve.invocation.arguments, ElementsAre("m.gguf", "--port", "1"));
  const Call help = call_of({"pagoda", "help", "chat"});
  ASSERT_EQ(help.kind, Call::Kind::kHelp);
  EXPECT_EQ(help.subcommand->name, "chat");
}

TEST(Subcommands, ActsAsTheLinkSays) {
  const Call vllm = call_of({"/usr/local/bin/vllm", "serve", "m.gguf"});
  EXPECT_EQ(vllm.subcommand->name, "serve");
  EXPECT_TRUE(vllm.invocation.drop_in);
  EXPECT_EQ(vllm.invocation.program, "vllm serve");
  const Call bare = call_of({"vllm", "--model", "m.gguf"});
  EXPECT_EQ(bare.subcommand->name, "serve");
  EXPECT_THAT(bare.invocation.arguments, ElementsAre("--model", "m.gguf"));
  EXPECT_EQ(call_of({"vllm", "--version"}).kind, Call::Kind::kVersion);
  const Call triton = call_of({"tritonserver", "--model-repository=/models"});
  EXPECT_EQ(triton.subcommand->name, "serve");
  EXPECT_THAT(triton.invocation.arguments, ElementsAre("--model-repository=/models"));
  const Call smi = call_of({"nvidia-smi", "-L"});
  EXPECT_EQ(smi.subcommand->name, "smi");
  EXPECT_THAT(smi.invocation.arguments, ElementsAre("-L"));
  const Call dcgmi = call_of({"dcgmi", "dmon"});
  EXPECT_EQ(dcgmi.subcommand->name, "dcgmi");
  EXPECT_THAT(dcgmi.invocation.arguments, ElementsAre("dmon"));
}

TEST(Subcommands, WhatIsNotThereSaysSoInOneLine) {
  for (const Subcommand& row : subcommands()) {
    if (row.run != nullptr) continue;
    const std::string name(row.name);
    const std::string text = stderr_of({"pagoda", name.c_str()}, kExitUsage);
    EXPECT_THAT(text, HasSubstr(name + " (" + std::string(row.summary) + ") is not in version"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_THAT(stderr_of({"pagoda", "help", name.c_str()}, kExitUsage), HasSubstr("not in version"));
  }
}

TEST(Subcommands, ATypingErrorGetsTheNearest) {
  EXPECT_THAT(stderr_of({"pagoda", "serv"}, kExitUsage), HasSubstr("did you mean `pagoda serve`?"));
  EXPECT_THAT(stderr_of({"pagoda", "xyzzyx"}, kExitUsage), HasSubstr("`pagoda --help`"));
  EXPECT_THAT(stderr_of({"pagoda", "help", "caht"}, kExitUsage), HasSubstr("`pagoda chat`"));
}

TEST(Subcommands, TheOverviewOffersOnlyWhatWorks) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(dispatch(std::vector<const char*>{"pagoda"}), kExitOk);
  std::fflush(stdout);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("pagoda serve"));
  EXPECT_THAT(text, HasSubstr("This machine"));
  EXPECT_THAT(text, testing::Not(HasSubstr("pagoda quantize")));
  EXPECT_THAT(text, testing::Not(HasSubstr("\x1b["))) << "no colours into a pipe";
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24) << "one screen";
}

}  // namespace
}  // namespace pagoda::app
