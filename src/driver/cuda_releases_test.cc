#include "driver/cuda_releases.h"

#include <gtest/gtest.h>

namespace pagoda::driver {
namespace {

TEST(CudaReleases, BothColumnsGrow) {
  const auto releases = cuda_releases();
  for (size_t i = 1; i < releases.size(); ++i) {
    EXPECT_LT(*VersionNumber::parse(releases[i - 1].cuda), *VersionNumber::parse(releases[i].cuda));
    EXPECT_LT(*VersionNumber::parse(releases[i - 1].least_driver),
              *VersionNumber::parse(releases[i].least_driver));
  }
}

TEST(CudaReleases, NewestOfADriver) {
  const auto newest = [](std::string_view driver) {
    return newest_cuda(*VersionNumber::parse(driver)).value_or("none");
  };
  EXPECT_EQ(newest("535.183.01"), "12.2");
  EXPECT_EQ(newest("550.54.14"), "12.4");
  EXPECT_EQ(newest("570.124.06"), "12.8");
  EXPECT_EQ(newest("580.95.05"), "13.0");
  EXPECT_EQ(newest("590.48.01"), "13.1");
  EXPECT_EQ(newest("390.157"), "none");
}

TEST(CudaReleases, LeastDriverInFullAndByCompatibility) {
  EXPECT_EQ(least_driver("12.8")->in_full, "570.26");
  EXPECT_EQ(least_driver("12.8")->compatible, "525.60.13");
  EXPECT_EQ(least_driver("11.0")->compatible, "450.80.02");
  EXPECT_EQ(least_driver("10.2")->compatible, "440.33");
  EXPECT_FALSE(least_driver("14.0"));
}

}  // namespace
}  // namespace pagoda::driver
