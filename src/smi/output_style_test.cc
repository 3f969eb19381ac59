#include "smi/output_style.h"

#include <gtest/gtest.h>

namespace pagoda::smi {
namespace {

TEST(OutputStyle, IsNamedByBranch) {
  EXPECT_EQ(style_named("R580")->branch, 580);
  EXPECT_EQ(style_named("610")->branch, 610);
  EXPECT_FALSE(style_named("R535"));  // a narrower table, not written
  EXPECT_FALSE(style_named("R58x"));
  EXPECT_FALSE(style_named(""));
}

TEST(OutputStyle, FollowsTheDriver) {
  driver::DriverReadings driver;
  EXPECT_EQ(style_of(driver).branch, kNewestBranch);
  driver.version = std::string("575.57.08");
  EXPECT_EQ(style_of(driver).branch, 575);
  EXPECT_EQ(style_of(driver).query_colon_column(), 42);
  EXPECT_FALSE(style_of(driver).plain_table_joints());
}

}  // namespace
}  // namespace pagoda::smi
