// Bytes → token id, for the vocabulary's hundred thousands of pieces: one probe, no allocation per lookup.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pagoda::text {

class PieceTable {
 public:
  // Room for `pieces` entries; the bytes behind each string_view must live as long as the table.
  void reserve(size_t pieces);
  // The first entry of equal bytes stays.
  void insert(std::string_view piece, int32_t id);
  // -1 when there is none.
  int32_t find(std::string_view piece) const;
  size_t longest() const { return longest_; }  // bytes of the longest piece

 private:
  struct Slot {
    const char* data = nullptr;
    uint32_t length = 0;
    int32_t id = -1;
    uint64_t hash = 0;
  };
  size_t slot_of(std::string_view piece, uint64_t hash) const;

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t longest_ = 0;
};

}  // namespace pagoda::text
