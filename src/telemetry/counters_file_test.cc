#include "telemetry/counters_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::telemetry {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto lines = parse_counters(text, "c.csv");
  return lines ? "no error" : lines.error().message;
}

TEST(CountersFile, NamesAreTrimmedAndCommentsPassedOver) {
  const auto lines = parse_counters(
      "# Format,,\n\nDCGM_FI_DEV_DEC_UTIL ,     gauge, Decoder utilization (in %).\r\n"
      "DCGM_FI_DRIVER_VERSION, label, \"Driver, and its \"\"version\"\"\"\n"
      "  # indented\nDCGM_FI_DEV_PCIE_REPLAY_COUNTER,counter,Retries",
      "c.csv");
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), 3u);
  EXPECT_EQ((*lines)[0].name, "DCGM_FI_DEV_DEC_UTIL");
  EXPECT_EQ((*lines)[0].line, 3);
  EXPECT_EQ((*lines)[0].help, "Decoder utilization (in %).");
  EXPECT_EQ((*lines)[1].kind, CounterKind::kLabel);
  EXPECT_EQ((*lines)[1].help, "Driver, and its \"version\"");
  EXPECT_EQ((*lines)[2].kind, CounterKind::kCounter);
}

TEST(CountersFile, MistakesNameTheLine) {
  EXPECT_THAT(error_of("#\nA, gauge"), HasSubstr("c.csv, line 2: 'A, gauge' has 2 parts"));
  EXPECT_THAT(error_of("A, gauge, one, two"), HasSubstr("line 1: 'A, gauge, one, two' has 4 parts"));
  EXPECT_THAT(error_of("A, gage, x"), HasSubstr("line 1: type 'gage' is none of gauge, counter, label"));
  EXPECT_THAT(error_of("A B, gauge, x"), HasSubstr("line 1: 'A B' is no field's name"));
  EXPECT_THAT(error_of("A, gauge, \"x"), HasSubstr("line 1: a quote is opened"));
  EXPECT_THAT(error_of("A, gauge, \"x\" y"), HasSubstr("behind a closing quote"));
  EXPECT_THAT(error_of("A, gauge, x\nA, gauge, x"), HasSubstr("line 2: A stands already in line 1"));
  EXPECT_THAT(error_of("# nothing\n"), HasSubstr("c.csv names no field"));
}

TEST(CountersFile, AFileThatIsNotThere) {
  const auto lines = read_counters_file("/nonexistent/counters.csv");
  ASSERT_FALSE(lines);
  EXPECT_THAT(lines.error().message, HasSubstr("/nonexistent/counters.csv cannot be read: No such file"));
}

}  // namespace
}  // namespace pagoda::telemetry
