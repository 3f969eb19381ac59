#include "smi/live_view.h"

#include <gtest/gtest.h>

#include "smi/monitor_columns.h"
#include "smi/topology_matrix.h"

namespace pagoda::smi {
namespace {

TEST(LiveView, SparklinesKeepGaps) {
  EXPECT_EQ(sparkline({0, 50, -1, 100}, 10), "▁▄ █");
  EXPECT_EQ(sparkline({0, 50, -1, 100}, 2), " █");
  EXPECT_EQ(sparkline({}, 5), "");
}

TEST(LiveView, FitsAnyScreen) {
  driver::MachineSnapshot machine;
  machine.gpus.resize(8);
  LiveHistory history;
  history.add(machine);
  for (const int width : {1, 20, 80, 200}) {
    for (const int height : {1, 5, 40}) {
      EXPECT_LE(live_view(machine, history, width, height).size(), static_cast<size_t>(height));
    }
  }
}

TEST(LiveView, AnAbsentLoadIsNoEmptyBar) {
  EXPECT_EQ(bar(-1, 4), "[    ]  N/A");
  EXPECT_EQ(bar(50, 4), "[██  ]  50%");
}

TEST(Monitor, GroupsAreChecked) {
  EXPECT_EQ(*read_metric_groups("pup", kDeviceGroups), "pu");
  EXPECT_FALSE(read_metric_groups("px", kDeviceGroups));
}

TEST(Topology, RangesAreShort) {
  EXPECT_EQ(number_ranges({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(number_ranges({}), "");
}

}  // namespace
}  // namespace pagoda::smi
