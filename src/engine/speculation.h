// When to guess, how much, and for whom: between the scheduler, which checks guesses where it has room, and a
// Drafter, which makes them.
#pragma once

#include <span>
#include <vector>

#include "engine/active_request.h"
#include "engine/drafter.h"
#include "engine/engine.h"

namespace pagoda::engine {

// Engine thread only.
class Speculation {
 public:
  // `drafter` may be null: then nothing is guessed.
  Speculation(const EngineConfig& config, Drafter* drafter) : config_(config), drafter_(drafter) {}

  // Sets the drafts of a step's choices that go on with one token each. `running`: sequences in all.
  void propose(std::span<Sequence* const> choices, int running);
  void forget(const Choice& choice);

 private:
  int room(const Choice& choice) const;

  const EngineConfig& config_;
  Drafter* const drafter_;
  std::vector<DraftRequest> requests_;
  bool failed_ = false;  // the last time: said once
};

}  // namespace pagoda::engine
