// Guesses what follows a sequence, so that the model checks several tokens in one step (speculative
// decoding). A guess never changes an answer: a token is chosen from the model's own logits, as without
// guesses, and the guesses only decide how many rows of logits one step brings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace pagoda::engine {

struct DraftRequest {
  uint64_t sequence = 0;
  std::span<const int32_t> tokens;        // all of the sequence: prompt, then answer
  int most = 0;                           // tokens that the draft may have, >= 1
  std::vector<int32_t>* draft = nullptr;  // empty; stays so when nothing is to be guessed
};

// Engine thread only.
class Drafter {
 public:
  virtual ~Drafter() = default;
  // An Error costs the drafts, not the answers.
  virtual Status propose(std::span<const DraftRequest> requests) = 0;
  // The sequence has ended: what is kept of it may go.
  virtual void forget(uint64_t sequence) = 0;
};

}  // namespace pagoda::engine
