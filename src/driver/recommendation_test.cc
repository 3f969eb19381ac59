#include "driver/recommendation.h"

#include <gmock/gmock.h>

namespace pagoda::driver {
namespace {

PciDevice gpu(uint16_t device) {
  PciDevice gpu;
  gpu.device = device;
  gpu.chip = chip_of_device(device);
  return gpu;
}

DriverPackage package(std::string name, std::string version) {
  return read_driver_stanzas("Package: " + name + "\nVersion: " + version + "\n").at(0);
}

const std::vector<DriverPackage> kPackages = {
    package("nvidia-driver-590-open", "590.48.01-1"), package("nvidia-driver-580-open", "580.95.05-1"),
    package("nvidia-driver-580", "580.95.05-1"),      package("nvidia-driver-535", "535.1-1"),
    package("nvidia-driver-470", "470.256.02-1"),
};

std::string best(const std::vector<PciDevice>& gpus) {
  const auto recommendation = recommend(gpus, kPackages);
  return recommendation.best ? recommendation.best->name : "none: " + recommendation.reason;
}

TEST(Recommendation, FollowsTheChip) {
  EXPECT_EQ(best({gpu(0x2206)}), "nvidia-driver-590-open");          // Ampere: the newest, open
  EXPECT_EQ(best({gpu(0x2901)}), "nvidia-driver-590-open");          // Blackwell: open only
  EXPECT_EQ(best({gpu(0x1db4)}), "nvidia-driver-580");               // Volta: R580 is the last, proprietary
  EXPECT_EQ(best({gpu(0x2206), gpu(0x1db4)}), "nvidia-driver-580");  // one driver for both
  EXPECT_THAT(best({gpu(0x2901), gpu(0x1db4)}), testing::HasSubstr("one machine has one module"));
}

TEST(Recommendation, OffersNvidiasSourceWhereTheDistributionsIsOld) {
  const auto old = recommend({gpu(0x2206)}, {package("nvidia-driver", "535.261.03-1")});
  EXPECT_EQ(old.best->name, "nvidia-driver");
  EXPECT_EQ(old.wanted_branch, 580);
  EXPECT_EQ(recommend({gpu(0x1db4)}, {package("nvidia-driver", "535.261.03-1")}).wanted_branch, std::nullopt);
  EXPECT_EQ(recommend({gpu(0x2901)}, {package("nvidia-driver", "535.261.03-1")}).best, std::nullopt);
}

TEST(Recommendation, SaysWhatEachRuns) {
  const auto rows = recommend({gpu(0x2206)}, kPackages).gpus.at(0).candidates;
  EXPECT_EQ(rows.at(0).cuda, "13.1");
  EXPECT_TRUE(rows.at(0).runs_pagoda);
  EXPECT_FALSE(rows.back().runs_pagoda);
  EXPECT_EQ(recommend({gpu(0x1db4)}, kPackages).gpus.at(0).candidates.at(0).cuda, "12.9");
}

TEST(DriverPackages, StanzasOfApt) {
  const auto packages = read_driver_stanzas(
      "Package: nvidia-driver-580-server-open\nVersion: 2:580.95.05-0ubuntu1\nSupport: Beta\n"
      "APT-Sources: http://ppa.launchpad.net/x noble/main amd64 Packages\n"
      "Modaliases: nvidia(pci:v000010DEd00002206sv*sd*bc03sc*i*, pci:v1)\n\n"
      "Package: nvidia-settings\nVersion: 580.1\n\nPackage: nvidia-driver-assistant\nVersion: 0.1\n");
  ASSERT_EQ(packages.size(), 1U);
  EXPECT_EQ(packages[0].version.text(), "580.95.05");
  EXPECT_EQ(packages[0].kind, ModuleKind::kOpen);
  EXPECT_TRUE(packages[0].server && packages[0].third_party && packages[0].preview);
  EXPECT_EQ(packages[0].modaliases.size(), 2U);
}

}  // namespace
}  // namespace pagoda::driver
