// How a device's memory is shared out between weights, one step's activations and KV blocks, and what to
// change when it does not fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/footprint.h"
#include "model/model_shape.h"

namespace pagoda::model {

// What the flags ask for. Counts are at least 1.
struct ServingShape {
  int max_model_len = 0;
  int max_num_seqs = 0;
  int max_num_batched_tokens = 0;
  int block_size = 16;
  DType kv_dtype = DType::kBF16;
  int64_t device_bytes = 0;  // the device's capacity; of a CPU, what is available
  double utilization = 0.9;  // --gpu-memory-utilization: the share of it that may be used, (0, 1]
  int64_t kv_cache_bytes =
      0;  // --kv-cache-memory-bytes: KV's share by hand, whatever utilization is; 0: what is left
  DType activation_dtype = DType::kF32;  // kF32 on the CPU, a 16-bit one on a GPU
  int blocks_override = 0;  // --num-gpu-blocks-override: blocks of group 0 by hand; 0: by the budget
};

struct MemoryPlan {
  int64_t budget = 0;  // device_bytes · utilization
  int64_t weights = 0;
  int64_t activations = 0;  // with the logits
  int64_t other = 0;
  int64_t kv = 0;           // of all blocks below
  std::vector<int> blocks;  // per KV group
  double sequences = 0;     // of max_model_len that the blocks hold at once
};

// What there is before any block is counted: budget, weights, activations and other are filled in.
struct MemoryNeed {
  MemoryPlan fixed;
  int64_t room = 0;          // left for KV; negative when the fixed part is too much already
  int64_t one_sequence = 0;  // KV blocks of one sequence of max_model_len

  bool fits() const { return one_sequence <= room; }
  int64_t missing() const { return room < 0 ? saturating_sum(one_sequence, -room) : one_sequence - room; }
};
MemoryNeed memory_need(const ModelShape& model, int64_t weight_bytes, int64_t other_bytes,
                       const ServingShape& shape);

// Every group gets what one sequence of max_model_len needs; what is left is shared out in the proportion
// that sequences of kTypicalTokens need, up to what max_num_seqs sequences of max_model_len can use.
// kResourceExhausted when not even one sequence fits, with a message that gives each part and the flags that
// do fit.
constexpr int kTypicalTokens = 2048;
Result<MemoryPlan> plan_memory(const ModelShape& model, int64_t weight_bytes, int64_t other_bytes,
                               const ServingShape& shape);

// The largest max_model_len, a multiple of the block size, that plan_memory accepts; 0 when none does.
int largest_model_len(const ModelShape& model, int64_t weight_bytes, int64_t other_bytes, ServingShape shape);

// The least utilization, in hundredths up to 1, that plan_memory accepts; 0 when none does.
double least_utilization(const ModelShape& model, int64_t weight_bytes, int64_t other_bytes,
                         ServingShape shape);

// "1.05 GiB", "93.2 MiB".
std::string bytes_text(int64_t bytes);

}  // namespace pagoda::model
