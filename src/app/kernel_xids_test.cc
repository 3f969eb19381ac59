#include "app/kernel_xids.h"

#include <gtest/gtest.h>

namespace pagoda::app {
namespace {

driver::MachineSnapshot two_gpus() {
  driver::MachineSnapshot machine;
  machine.gpus.resize(2);
  machine.gpus[0].pci.bus_id = std::string("00000000:17:00.0");
  machine.gpus[1].pci.bus_id = std::string("00000000:3B:00.0");
  machine.gpus[1].index = 1;
  return machine;
}

TEST(KernelXids, FindsTheGpuTheNumberAndTheTime) {
  const auto events = xids_in_log(
      "[    5.000000] NVRM: loading NVIDIA UNIX Kernel Module\n"
      "[   12.500000] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.\n"
      "[   20.000000] NVRM: Xid (0000:17:00): 94, Contained\n"
      "[   21.000000] NVRM: Xid (PCI:0000:99:00): 13, of a GPU that is not here\n"
      "[   22.000000] NVRM: Xid (PCI:0000:3b:00): x\n",
      two_gpus(), 1'000'000'000, 0);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].gpu, 1u);
  EXPECT_EQ(events[0].xid, 79u);
  EXPECT_EQ(events[0].time.time_since_epoch(), std::chrono::microseconds(1'012'500'000));
  EXPECT_EQ(events[1].gpu, 0u);
  EXPECT_EQ(events[1].xid, 94u);
}

TEST(KernelXids, OnlyThoseSinceThen) {
  const std::string log = "[1.0] NVRM: Xid (PCI:0000:3b:00): 48\n[9.0] NVRM: Xid (PCI:0000:3b:00): 95\n";
  const auto events = xids_in_log(log, two_gpus(), 0, 5'000'000);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].xid, 95u);
  EXPECT_TRUE(xids_in_log("", two_gpus(), 0, 0).empty());
}

}  // namespace
}  // namespace pagoda::app
