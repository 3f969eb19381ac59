// How much of everything a server gets: context length, KV blocks, swap slots. Arithmetic only; the memory
// itself is taken later.
#pragma once

#include <cstdint>
#include <vector>

#include "app/serve_options.h"
#include "base/result.h"
#include "model/memory_plan.h"
#include "model/model_config.h"
#include "tensor/dtype.h"

namespace pagoda::app {

struct ServingPlan {
  int max_model_len = 0;
  DType kv_dtype = DType::kBF16;
  model::MemoryPlan memory;
  std::vector<int> swap_blocks;  // per KV group
  int64_t swap_bytes = 0;
};

struct ServingFacts {
  int64_t memory_available = 0;  // bytes, before the weights are loaded
  int64_t weight_bytes = 0;      // as packed
  int64_t other_bytes = 0;       // what else is kept beside them: the model that guesses
  bool float32 = false;          // the reference precision: KV in f32 unless told otherwise
};

// Fails, with the flags that fit, when not even one sequence of the wanted length does.
Result<ServingPlan> plan_serving(const ServeOptions& options, const model::ModelConfig& config,
                                 const ServingFacts& facts);

}  // namespace pagoda::app
