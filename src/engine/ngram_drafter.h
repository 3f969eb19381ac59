// Prompt lookup: what followed the newest tokens when they stood in the sequence before. Costs no model, and
// pays where an answer repeats its prompt or itself (code that is edited, text that is quoted).
#pragma once

#include "engine/drafter.h"

namespace pagoda::engine {

struct NgramLengths {
  int shortest = 2;  // newest tokens that must be found again, >= 1
  int longest = 5;   // more than these are not compared, >= shortest
};

class NgramDrafter final : public Drafter {
 public:
  explicit NgramDrafter(NgramLengths lengths) : lengths_(lengths) {}
  // Of all earlier places the one with the longest match, of equal ones the latest. O(tokens × longest).
  Status propose(std::span<const DraftRequest> requests) override;
  void forget(uint64_t) override {}

 private:
  const NgramLengths lengths_;
};

}  // namespace pagoda::engine
