#include "app/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace pagoda::app {
namespace {

namespace fs = std::filesystem;

class FakeRoot : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("machine_test_root_" + std::to_string(::getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void pci_device(const std::string& address, const std::string& vendor, const std::string& device_class) {
    write("sys/bus/pci/devices/" + address + "/vendor", vendor + "\n");
    write("sys/bus/pci/devices/" + address + "/class", device_class + "\n");
  }

  fs::path root_;
};

TEST_F(FakeRoot, NoPciAtAll) {
  EXPECT_TRUE(find_gpus(root_).empty());
}

TEST_F(FakeRoot, FindsNvidiaDisplayDevicesInOrder) {
  pci_device("0000:81:00.0", "0x10de", "0x030200");
  pci_device("0000:01:00.0", "0x10de", "0x030000");
  pci_device("0000:01:00.1", "0x10de", "0x040300");  // its audio function
  pci_device("0000:02:00.0", "0x1002", "0x030000");  // another maker's
  write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA GeForce RTX 3080\nIRQ: 5\n");
  const auto gpus = find_gpus(root_);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].pci_address, "0000:01:00.0");
  EXPECT_EQ(gpus[0].name, "NVIDIA GeForce RTX 3080");
  EXPECT_EQ(gpus[1].pci_address, "0000:81:00.0");
  EXPECT_EQ(gpus[1].name, "") << "no driver: no name";
}

TEST(Machine, ThisOneHasACpuAndMemory) {
  const Machine machine = inspect_machine();
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory_available, 0);
  EXPECT_FALSE(machine.isa.empty());
}

TEST(HumanBytes, OneUnitPerSize) {
  EXPECT_EQ(human_bytes(17), "17 bytes");
  EXPECT_EQ(human_bytes(96 << 20), "96 MiB");
  EXPECT_EQ(human_bytes((int64_t{5} << 30) / 2), "2.5 GiB");
}

}  // namespace
}  // namespace pagoda::app
