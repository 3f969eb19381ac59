// What boards reach, for planning: a table beside the data-sheet facts of chips.h, and the names under which
// people ask for a card. Sources: the boards' data sheets (dense rates, FP32 accumulation), the memory that
// the driver reports.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "driver/chips.h"

namespace pagoda::driver {

struct BoardRates {
  uint16_t device = 0;      // the Board's
  std::string_view key;     // "h100-80gb"
  int memory_mib = 0;       // total, as the driver reports it
  double tflops_16 = 0;     // FP16 and BF16, dense
  double tflops_8 = 0;      // FP8 or int8, dense; 0: none
  int pcie_generation = 0;  // of its 16 lanes
  int nvlink_group = 0;  // GPUs joined: 8 on a board, 72 in a rack, 2 by a bridge that is sold apart; 0: none
};

std::span<const BoardRates> board_rates();

// "h100-80gb", "H100", "NVIDIA H100 80GB HBM3", "rtx4090", "GeForce RTX 4090"; nullptr: unknown.
const BoardRates* find_board_rates(std::string_view name);

// Bytes per second, one direction, that copies over 16 lanes reach.
double pcie_bytes_per_s(int generation);

}  // namespace pagoda::driver
