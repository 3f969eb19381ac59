#include "text/merge_table.h"

#include <bit>

namespace pagoda::text {

void MergeTable::reserve(size_t merges) {
  const size_t size = std::bit_ceil(merges * 2 + 2);
  slots_.assign(size, Slot{});
  mask_ = size - 1;
  shift_ = 64 - std::countr_zero(size);
}

void MergeTable::insert(int32_t left, int32_t right, uint32_t rank, int32_t merged) {
  const uint64_t pair = pair_of(left, right);
  size_t i = slot_of(pair);
  while (slots_[i].pair != kEmpty && slots_[i].pair != pair) i = (i + 1) & mask_;
  if (slots_[i].pair == kEmpty) slots_[i] = {pair, rank, merged};
}

}  // namespace pagoda::text
