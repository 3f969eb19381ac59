// What one step does, as plain data: the scheduler decides it, a ModelRunner carries it out, other ranks
// could.
#pragma once

#include <cstdint>
#include <vector>

namespace pagoda::engine {

struct BlockCopy {
  int group, from, to;
};
struct BlockSwap {
  int group, block, slot;  // device block and slot of the swap space
};

enum class LogitsWanted : uint8_t { kNone, kLast, kAll };  // of this step's rows

struct SequencePlan {
  uint64_t sequence = 0;
  int first_position = 0;       // tokens whose KV exists already
  std::vector<int32_t> tokens;  // to compute now, at first_position and on
  std::vector<std::vector<int32_t>>
      block_tables;  // per KV group, covering first_position + tokens.size(); -1: left the window
  LogitsWanted logits = LogitsWanted::kNone;
  int drafts = 0;  // the last of `tokens` are guesses, to be checked
};

struct StepPlan {
  uint64_t step = 0;
  // Carried out in this order, before the forward pass.
  std::vector<BlockSwap> swap_out;
  std::vector<BlockSwap> swap_in;
  std::vector<BlockCopy> copies;
  std::vector<SequencePlan> sequences;  // batch order
};

}  // namespace pagoda::engine
