#include "text/piece_table.h"

#include <bit>
#include <cstring>

namespace pagoda::text {
namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Multiply and fold, eight bytes at a time (the idea of wyhash); not keyed: the entries are the vocabulary's.
uint64_t hash_of(std::string_view piece) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15u;
  uint64_t hash = piece.size() * kOdd;
  const char* data = piece.data();
  size_t left = piece.size();
  for (; left >= 8; left -= 8, data += 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    hash = mix(hash ^ word, kOdd);
  }
  uint64_t word = 0;
  if (left > 0) std::memcpy(&word, data, left);
  return mix(hash ^ word, kOdd);
}

}  // namespace

void PieceTable::reserve(size_t pieces) {
  slots_.assign(std::bit_ceil(pieces * 2 + 2), Slot{});
}

size_t PieceTable::slot_of(std::string_view piece, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].data != nullptr) {
    const Slot& slot = slots_[i];
    if (slot.hash == hash && slot.length == piece.size() &&
        std::memcmp(slot.data, piece.data(), piece.size()) == 0) {
      break;
    }
    i = (i + 1) & mask;
  }
  return i;
}

void PieceTable::insert(std::string_view piece, int32_t id) {
  const uint64_t hash = hash_of(piece);
  Slot& slot = slots_[slot_of(piece, hash)];
  if (slot.data != nullptr) return;
  slot = {piece.data(), static_cast<uint32_t>(piece.size()), id, hash};
  if (piece.size() > longest_) longest_ = piece.size();
}

int32_t PieceTable::find(std::string_view piece) const {
  if (piece.size() > longest_ || slots_.empty()) return -1;
  return slots_[slot_of(piece, hash_of(piece))].id;
}

}  // namespace pagoda::text
