// Carries out a StepPlan: block moves, then one forward pass. The scheduler's tests put a fake here.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "engine/step_plan.h"
#include "model/kv_layout.h"

namespace pagoda::engine {

// Logits of a step, row by row in the plan's order: per sequence none, its last row, or all its rows.
struct StepLogits {
  float* data = nullptr;  // [rows, vocabulary]; the sampler may scribble on it
  int rows = 0;
  int vocabulary = 0;
  std::span<float> row(int i) const {
    return {data + static_cast<size_t>(i) * static_cast<size_t>(vocabulary), static_cast<size_t>(vocabulary)};
  }
};

struct KvCapacity {
  model::KvLayout layout;
  int block_size = 16;
  std::vector<int> blocks;       // per group
  std::vector<int> swap_blocks;  // per group
  std::vector<int64_t> block_bytes;
};

class ModelRunner {
 public:
  virtual ~ModelRunner() = default;
  virtual int vocabulary() const = 0;
  virtual const KvCapacity& capacity() const = 0;
  // The logits stay valid until the next call.
  virtual Result<StepLogits> run(const StepPlan& plan) = 0;
};

}  // namespace pagoda::engine
