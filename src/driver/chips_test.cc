#include "driver/chips.h"

#include <gtest/gtest.h>

#include "driver/pci_devices.h"

namespace pagoda::driver {
namespace {

TEST(Chips, InThePciDatabasesNames) {
  EXPECT_EQ(chip_in_pci_name("GA102 [GeForce RTX 3080]")->capability_minor, 6);
  EXPECT_EQ(chip_in_pci_name("GV100GL [Tesla V100 SXM2 16GB]")->name, "GV100");
  EXPECT_EQ(chip_in_pci_name("GH100[H100 SXM5 80GB]")->name, "GH100");
  EXPECT_EQ(chip_in_pci_name("TU117M [GeForce GTX 1650 Ti Mobile]")->architecture, "Turing");
  EXPECT_EQ(chip_in_pci_name("NV1"), nullptr);
  EXPECT_EQ(chip_in_pci_name("K8M800 Host Bridge"), nullptr);
}

TEST(Chips, ByDeviceIdWhereTheDatabaseIsOld) {
  EXPECT_EQ(chip_of_device(0x2901)->name, "GB100");
  EXPECT_EQ(chip_of_device(0x2206)->name, "GA102");
  EXPECT_EQ(chip_of_device(0x0008), nullptr);
}

TEST(Chips, TablesAgree) {
  for (int device = 0; device <= 0xffff; ++device) {
    const Board* board = find_board(static_cast<uint16_t>(device));
    if (board == nullptr) continue;
    ASSERT_NE(find_chip(board->chip), nullptr) << board->name;
    EXPECT_EQ(chip_of_device(board->device), find_chip(board->chip)) << board->name;
  }
}

TEST(Chips, OneHundredAndEightTimesSixtyFour) {
  const Board* a100 = find_board(0x20b2);
  EXPECT_EQ(a100->sms * find_chip(a100->chip)->cores_per_sm, 6912);
}

TEST(PciIds, NamesOfOneVendorWithoutItsSubsystems) {
  const auto names = read_pci_ids(
      "# comment\n1002  AMD\n\t2206  wrong vendor\n10de  NVIDIA Corporation\n\t2206  GA102 [GeForce RTX "
      "3080]\n"
      "\t\t10de 1467  a board\n\t2330  GH100\n10df  Emulex\n\t2901  wrong vendor\n",
      kNvidiaVendor);
  EXPECT_EQ(names,
            (std::map<uint16_t, std::string>{{0x2206, "GA102 [GeForce RTX 3080]"}, {0x2330, "GH100"}}));
  EXPECT_TRUE(read_pci_ids("", kNvidiaVendor).empty());
  EXPECT_TRUE(read_pci_ids("10de  NVIDIA", kNvidiaVendor).empty());
}

}  // namespace
}  // namespace pagoda::driver
