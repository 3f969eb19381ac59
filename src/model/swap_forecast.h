// How much slower a server gets when not all of its sequences' KV fits and the rest waits in swap space: the
// scheduler's rules (engine/scheduler.h) played through with times for what a step does.
#pragma once

#include <cstdint>

namespace pagoda::model {

// What one step costs, in seconds. A step is the sum of its parts.
struct StepRates {
  double step = 0;        // whatever it computes: the weights pass by once
  double row = 0;         // each token computed
  double kv_token = 0;    // each token of context that a computed token looks back on
  double swap_block = 0;  // each block moved out or in
};

// `sequences` requests that arrive together and are alike. Counts are at least 1, lengths are tokens.
struct SwapLoad {
  int sequences = 1;
  int prompt = 1;
  int answer = 1;
  int block_size = 16;
  int64_t blocks = 0;       // of the pool; one sequence of prompt + answer fits
  int64_t swap_blocks = 0;  // 0: preempted sequences start over
  int max_num_seqs = 1;
  int step_tokens = 512;  // --max-num-batched-tokens
};

struct SwapForecast {
  double seconds = 0;            // until all have ended
  double seconds_with_room = 0;  // the same with a pool that holds all of them
  int64_t preemptions = 0;
  int64_t moved_blocks = 0;  // out and in

  double slow_down() const { return seconds_with_room > 0 ? seconds / seconds_with_room : 1; }
};

SwapForecast forecast_swap(const SwapLoad& load, const StepRates& rates);

}  // namespace pagoda::model
