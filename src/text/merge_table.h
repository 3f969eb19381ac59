// Ranked merges of token pairs: (left, right) → rank and the token that they become.
#pragma once

#include <cstdint>
#include <vector>

#include "text/pair_merging.h"

namespace pagoda::text {

class MergeTable {
 public:
  void reserve(size_t merges);
  // The first rank of a pair stays.
  void insert(int32_t left, int32_t right, uint32_t rank, int32_t merged);

  PairMerge find(int32_t left, int32_t right) const {
    if (left < 0 || right < 0) return {};
    const uint64_t pair = pair_of(left, right);
    for (size_t i = slot_of(pair);; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.pair == pair) return {slot.rank, slot.token};
      if (slot.pair == kEmpty) return {};
    }
  }

 private:
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  struct Slot {
    uint64_t pair = kEmpty;
    uint32_t rank = 0;
    int32_t token = -1;
  };
  static uint64_t pair_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t slot_of(uint64_t pair) const { return (pair * 0x9E3779B97F4A7C15u >> shift_) & mask_; }

  std::vector<Slot> slots_ = std::vector<Slot>(2);  // a power of two, at most half full
  size_t mask_ = 1;
  int shift_ = 63;
};

}  // namespace pagoda::text
