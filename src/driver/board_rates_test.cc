#include "driver/board_rates.h"

#include <gtest/gtest.h>

#include <set>

namespace pagoda::driver {
namespace {

TEST(BoardRates, EveryRowHasItsBoardAndItsOwnKey) {
  std::set<std::string_view> keys;
  for (const BoardRates& rates : board_rates()) {
    const Board* board = find_board(rates.device);
    ASSERT_NE(board, nullptr) << rates.key;
    EXPECT_TRUE(keys.insert(rates.key).second) << rates.key;
    // The driver keeps a little for itself, and ECC takes a sixteenth on some.
    EXPECT_GT(rates.memory_mib, board->memory_gib * 1024 * 0.92) << rates.key;
    EXPECT_LT(rates.memory_mib, board->memory_gib * 1024 * 1.03) << rates.key;
    EXPECT_EQ(rates.nvlink_group > 0, board->nvlink_gb_s > 0 && rates.key != "gh200") << rates.key;
    EXPECT_EQ(find_board_rates(rates.key), &rates);
    EXPECT_EQ(find_board_rates(board->name), &rates) << board->name;
  }
}

TEST(BoardRates, NamesThatPeopleUse) {
  EXPECT_EQ(find_board_rates("H100")->key, "h100-80gb");
  EXPECT_EQ(find_board_rates("NVIDIA H100 80GB HBM3")->key, "h100-80gb");
  EXPECT_EQ(find_board_rates("A100-80GB")->key, "a100-80gb");
  EXPECT_EQ(find_board_rates("NVIDIA A100 80GB PCIe")->key, "a100-80gb-pcie");
  EXPECT_EQ(find_board_rates("rtx4090")->key, "rtx-4090");
  EXPECT_EQ(find_board_rates("4090")->key, "rtx-4090");
  EXPECT_EQ(find_board_rates("Tesla T4")->key, "t4");
  EXPECT_EQ(find_board_rates("h1000"), nullptr);
  EXPECT_EQ(find_board_rates(""), nullptr);
}

TEST(BoardRates, PcieDoublesWithEachGeneration) {
  EXPECT_EQ(pcie_bytes_per_s(4), 25e9);
  EXPECT_EQ(pcie_bytes_per_s(5), 2 * pcie_bytes_per_s(4));
}

}  // namespace
}  // namespace pagoda::driver
