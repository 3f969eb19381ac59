#include "telemetry/device_choice.h"

#include <gtest/gtest.h>

namespace pagoda::telemetry {
namespace {

TEST(DeviceChoice, FlexibleTakesInstancesInMigModeAndGpusElsewhere) {
  const auto choice = parse_device_choice("f");
  ASSERT_TRUE(choice);
  EXPECT_TRUE(choice->has_gpu(3, false));
  EXPECT_FALSE(choice->has_gpu(3, true));
  EXPECT_TRUE(choice->has_instance(5));
}

TEST(DeviceChoice, RangesAndBothSorts) {
  const auto choice = parse_device_choice("g:0,2-4+i:1");
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_TRUE(choice->has_gpu(3, true));
  EXPECT_FALSE(choice->has_gpu(1, false));
  EXPECT_TRUE(choice->has_instance(1));
  EXPECT_FALSE(choice->has_instance(0));
  const auto gpus = parse_device_choice("g");
  ASSERT_TRUE(gpus);
  EXPECT_TRUE(gpus->has_gpu(7, true));
  EXPECT_FALSE(gpus->has_instance(0));
}

TEST(DeviceChoice, MistakesAreSaid) {
  for (const char* text :
       {"", "x", "f:0", "f+g", "g:", "g:a", "g:3-1", "g:1-", "g+", "g+g", "g:0-9999", "g:1:2"})
    EXPECT_FALSE(parse_device_choice(text)) << text;
}

}  // namespace
}  // namespace pagoda::telemetry
