#include "faults/line_time.h"

#include <gtest/gtest.h>

namespace pagoda::faults {
namespace {

using Clock = LineTime::Clock;

TEST(LineTime, KernelStamps) {
  const LineTime time = time_of_line("<4>[ 8123.104511] NVRM: Xid");
  EXPECT_EQ(time.clock, Clock::kBoot);
  EXPECT_DOUBLE_EQ(time.seconds, 8123.104511);
  EXPECT_EQ(time.text, "8123.104511");
  EXPECT_EQ(time_of_line("[ x.1] a").clock, Clock::kNone);
  EXPECT_EQ(time_of_line("[").clock, Clock::kNone);
  EXPECT_EQ(time_of_line("").clock, Clock::kNone);
}

TEST(LineTime, WallClocksOfAllKindsAgree) {
  const char* lines[] = {
      "[Mon Nov 30 09:12:05 2026] NVRM: Xid",
      "Nov 30 09:12:05 node7 kernel: NVRM: Xid",
      "2026-11-30T09:12:05.000000+0000 node7 kernel: NVRM",
      "2026-11-30 09:12:05,000 ERROR x",
      "2026/11/30 09:12:05.000, NVIDIA H100",
      "INFO 11-30 09:12:05 [file.py:12] x",
      "[rank0]:[E1130 09:12:05.000 ProcessGroupNCCL.cpp:616] x",
      "I1130 09:12:05.000000 1 server.cc:662] x",
  };
  const LineTime first = time_of_line(lines[0]);
  for (const char* line : lines) {
    const LineTime time = time_of_line(line);
    EXPECT_EQ(time.clock, Clock::kWall) << line;
    EXPECT_DOUBLE_EQ(time.seconds, first.seconds) << line;
  }
}

TEST(LineTime, NearnessNeedsOneClockAndOneBoot) {
  const LineTime early{Clock::kBoot, 10, 0, {}}, late{Clock::kBoot, 1000, 0, {}},
      later_boot{Clock::kBoot, 10, 1, {}};
  const LineTime wall{Clock::kWall, 10, 0, {}}, none;
  EXPECT_FALSE(may_be_near(early, late, 600));
  EXPECT_TRUE(may_be_near(early, late, 990));
  EXPECT_FALSE(may_be_near(early, later_boot, 600));
  EXPECT_TRUE(may_be_near(early, wall, 1));
  EXPECT_TRUE(may_be_near(late, none, 1));
}

}  // namespace
}  // namespace pagoda::faults
