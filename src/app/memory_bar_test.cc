#include "app/memory_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pagoda::app {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

int64_t count(const std::string& text, char c) {
  return std::count(text.begin(), text.end(), c);
}

TEST(MemoryBar, CellsAreInProportion) {
  const BarPart parts[] = {{"weights", 5 * kGiB, "W", Ink::kCyan}, {"KV", 3 * kGiB, "K", Ink::kGreen}};
  const std::string bar = memory_bar(parts, 10 * kGiB, 9 * kGiB, 102, Paint(false));
  const std::string row = bar.substr(0, bar.find('\n'));
  EXPECT_EQ(count(row, 'W'), 50);
  EXPECT_EQ(count(row, 'K'), 30);
  EXPECT_THAT(bar, testing::HasSubstr("9.00 GiB may be used ▲"));
}

TEST(MemoryBar, ASmallPartIsSeenAndTooMuchFillsTheRow) {
  const BarPart parts[] = {{"runtime", 1 << 20, "r", Ink::kDim}, {"weights", 40 * kGiB, "W", Ink::kCyan}};
  const std::string bar = memory_bar(parts, 10 * kGiB, 9 * kGiB, 62, Paint(false));
  const std::string row = bar.substr(0, bar.find('\n'));
  EXPECT_EQ(count(row, 'r'), 1);
  EXPECT_EQ(count(row, 'W'), 59);
  EXPECT_EQ(row.find("·"), std::string::npos);
}

TEST(MemoryBar, NothingAtAllIsDrawn) {
  EXPECT_THAT(memory_bar({}, 0, 0, 40, Paint(false)), testing::HasSubstr("free"));
}

}  // namespace
}  // namespace pagoda::app
