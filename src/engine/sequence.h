// One choice of a request as the scheduler sees it: tokens, and how far their KV has got.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/kv_blocks.h"

namespace pagoda::engine {

enum class SequenceState {
  kIdle,     // not known to the scheduler
  kWaiting,  // holds no blocks
  kRunning,  // holds blocks
  kSwapped,  // holds swap slots
};

struct Sequence {
  uint64_t id = 0;
  uint64_t arrival = 0;  // its request's number: the order of first come, first served
  int choice = 0;
  int priority = 0;        // lower runs first
  std::string name_space;  // see PrefixIndex
  bool reuse_prefix = true;
  bool samples = true;  // false: only the prompt is to be computed
  int prompt_rows = 0;  // logits are wanted for the first `prompt_rows` positions too (prompt_logprobs)
  int prompt_rows_done = 0;

  std::vector<int32_t> tokens;  // prompt, then answer
  int prompt_size = 0;
  std::vector<int32_t> draft;  // guesses of what follows `tokens`, for the next step alone

  // The scheduler's own:
  SequenceState state = SequenceState::kIdle;
  int computed = 0;       // positions whose KV exists
  int granted = 0;        // tokens to compute in the step that is being planned
  bool admitted = false;  // has ever run
  int cached_tokens = 0;  // found in the prefix index when it first ran
  KvTable kv;

  // Tokens that wait to be computed. A sequence has caught up when only its newest one is left.
  int pending() const { return static_cast<int>(tokens.size()) - computed; }
};

// Who goes first: lower priority value, then earlier arrival, then lower choice.
struct ByTurn {
  bool operator()(const Sequence* a, const Sequence* b) const {
    if (a->priority != b->priority) return a->priority < b->priority;
    if (a->arrival != b->arrival) return a->arrival < b->arrival;
    return a->choice < b->choice;
  }
};

}  // namespace pagoda::engine
