#include "app/plan_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::app {
namespace {

using testing::HasSubstr;

Result<PlanTarget> target(std::vector<std::string> gpu) {
  PlanOptions options;
  options.gpu = std::move(gpu);
  return find_plan_target(options);
}

TEST(PlanDevices, ANameAndACountInAnyForm) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"h100-80gb", "x8"},
                                                                 {"h100-80gb x8"},
                                                                 {"h100-80gb", "×8"},
                                                                 {"h100-80gb:8"},
                                                                 {"NVIDIA", "H100", "80GB", "HBM3", "x8"}}) {
    const auto found = target(words);
    ASSERT_TRUE(found) << words.front() << ": " << found.error().message;
    EXPECT_EQ(found->device.key, "h100-80gb");
    EXPECT_EQ(found->count, 8);
  }
  EXPECT_EQ(target({"rtx", "4090"})->device.key, "rtx-4090");
  EXPECT_EQ(target({"rtx-4090"})->count, 1);
}

TEST(PlanDevices, FactsOfTheTable) {
  const auto a100 = target({"a100-80gb"});
  EXPECT_EQ(a100->device.memory_bytes, int64_t{81920} << 20);
  EXPECT_EQ(a100->device.memory_bandwidth, 2039e9);
  EXPECT_EQ(a100->device.nvlink, 300e9);  // one direction
  EXPECT_THAT(target({"rtx-3090", "x2"})->remarks, testing::ElementsAre(HasSubstr("NVLink bridge")));
  EXPECT_EQ(target({"cpu"})->device.kind, DeviceKind::kCpu);
}

TEST(PlanDevices, UnknownCardsNameTheNearest) {
  EXPECT_THAT(target({"h100-8gb"}).error().message, HasSubstr("did you mean h100-80gb?"));
  EXPECT_THAT(target({"abacus"}).error().message, HasSubstr("known are"));
  EXPECT_THAT(target({"x8"}).error().message, HasSubstr("a count without a card"));
  EXPECT_THAT(target({"h100", "x9999"}).error().message, HasSubstr("more than 4096"));
}

}  // namespace
}  // namespace pagoda::app
