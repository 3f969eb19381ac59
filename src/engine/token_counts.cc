#include "engine/token_counts.h"

#include <algorithm>

namespace pagoda::engine {

// Where `token` is or would be. The table is never full.
size_t TokenCounts::place(int32_t token) const {
  const size_t mask = places_.size() - 1;
  size_t i = (static_cast<uint32_t>(token) * 0x9E3779B1u >> 7) & mask;
  while (places_[i] >= 0 && entries_[static_cast<size_t>(places_[i])].token != token) i = (i + 1) & mask;
  return i;
}

TokenCounts::Entry& TokenCounts::entry(int32_t token) {
  if (places_.size() < 2 * (entries_.size() + 1)) grow();
  int32_t& index = places_[place(token)];
  if (index < 0) {
    index = static_cast<int32_t>(entries_.size());
    entries_.push_back({token, 0});
  }
  return entries_[static_cast<size_t>(index)];
}

void TokenCounts::grow() {
  places_.assign(std::max<size_t>(64, places_.size() * 2), -1);
  for (size_t i = 0; i < entries_.size(); ++i) places_[place(entries_[i].token)] = static_cast<int32_t>(i);
}

}  // namespace pagoda::engine
