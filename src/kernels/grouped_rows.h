// Rows of a grouped weight (tensor/grouped_weight.h) as numbers, and taken apart for packing. Words hold
// codes of several rows in some layouts, so rows are decoded a tile at a time.
#pragma once

#include <optional>
#include <vector>

#include "kernels/packed_matrix.h"
#include "tensor/grouped_weight.h"

namespace pagoda::kernels {

// The exact packed format of the weight's own codes; nothing where there is none (levels, irregular groups).
// [columns] sorted by group where group_of_column is not in order, else empty.
struct GroupedPacking {
  PackedFormat format;
  std::vector<int32_t> column_order;
};
std::optional<GroupedPacking> grouped_packing(const GroupedWeight& weight);

// Reads a weight's rows in turn; one thread each.
class GroupedRows {
 public:
  // value = code − centre: what fits int8. [columns], valid until the next call.
  const int8_t* values(const GroupedWeight& weight, int row);
  void dequantise(const GroupedWeight& weight, int row, float* out);

 private:
  const GroupedWeight* weight_ = nullptr;
  int first_ = 0, count_ = 0;
  std::vector<int8_t> values_;  // [kTileRows][columns]
};

// 128 for 8-bit codes in words; 0 for 4-bit codes with zero points of their own; else `zero`.
int centre_of(const GroupedWeight& weight);
float scale_of(const GroupedWeight& weight, int row, int group);
// The zero point less the centre.
int zero_of(const GroupedWeight& weight, int row, int group);

}  // namespace pagoda::kernels
