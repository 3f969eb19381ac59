#include "driver/version_number.h"

#include <gtest/gtest.h>

namespace pagoda::driver {
namespace {

TEST(VersionNumber, ComparesByNumber) {
  const auto v = [](std::string_view text) { return *VersionNumber::parse(text); };
  EXPECT_LT(v("535.54.03"), v("535.183"));
  EXPECT_LT(v("580.65.06"), v("580.105.08"));
  EXPECT_EQ(v("12.0"), v("12"));
  EXPECT_EQ(v("580.65.06").text(), "580.65.06");
  EXPECT_EQ(v("580.65.06").part(1), 65);
}

TEST(VersionNumber, RefusesWhatIsNone) {
  for (const auto* text :
       {"", ".", "1.", ".1", "1..2", "x", "1.x", "-1", "1.2.3.4.5.6.7", "99999999999999"}) {
    EXPECT_FALSE(VersionNumber::parse(text)) << text;
  }
}

TEST(VersionNumber, FindsTheFirstInALine) {
  EXPECT_EQ(
      VersionNumber::find_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6")->text(),
      "535.54.03");
  EXPECT_EQ(VersionNumber::find_in("Open Kernel Module for x86_64  580.95.05  Release Build")->text(),
            "580.95.05");
  EXPECT_FALSE(VersionNumber::find_in("no version 7 here"));
}

}  // namespace
}  // namespace pagoda::driver
