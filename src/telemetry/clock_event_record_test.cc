#include "telemetry/clock_event_record.h"

#include <gtest/gtest.h>

namespace pagoda::telemetry {
namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t kHwThermal = 0x40, kPowerCap = 0x4;

TEST(ClockEventRecord, CountsSamplesOfTheWindow) {
  ClockEventRecord record(10s);
  const TimePoint start{100s};
  record.add(0, kHwThermal, start);
  record.add(0, kHwThermal | kPowerCap, start + 6s);
  record.add(0, 0, start + 12s);
  EXPECT_EQ(record.in_window(0, kHwThermal, start + 12s), 1u);
  EXPECT_EQ(record.in_window(0, kPowerCap, start + 12s), 1u);
  EXPECT_EQ(record.in_window(0, kPowerCap, start + 30s), 0u);
  EXPECT_EQ(record.in_window(1, kPowerCap, start), 0u);
}

TEST(ClockEventRecord, CountsBeginningsAndNotWhatWasOnAtFirst) {
  ClockEventRecord record(10s);
  const TimePoint start{100s};
  record.add(0, kPowerCap, start);
  record.add(0, kPowerCap | kHwThermal, start + 1s);
  record.add(0, 0, start + 200s);
  record.add(0, kHwThermal, start + 400s);
  EXPECT_EQ(record.began(0, kPowerCap), 0u);
  EXPECT_EQ(record.began(0, kHwThermal), 2u);
}

}  // namespace
}  // namespace pagoda::telemetry
