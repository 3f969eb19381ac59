// The ModelRunner of one device: turns a StepPlan into batch tensors and runs the model on them. Owns the KV
// memory and the swap space. Used by the engine thread only.
#pragma once

#include <memory>
#include <vector>

#include "engine/model_runner.h"
#include "model/kv_cache.h"
#include "model/model.h"
#include "tensor/buffer.h"

namespace pagoda::engine {

struct KvSizes {
  DType dtype = DType::kBF16;    // kF32 or kBF16
  int block_size = 16;           // tokens; a multiple of 16
  std::vector<int> blocks;       // per KV group of the model
  std::vector<int> swap_blocks;  // the same, in swap space
};

class BatchRunner final : public ModelRunner {
 public:
  BatchRunner(std::unique_ptr<model::Model> model, const KvSizes& sizes);

  int vocabulary() const override { return model_->config().vocabulary; }
  const KvCapacity& capacity() const override { return capacity_; }
  Result<StepLogits> run(const StepPlan& plan) override;

 private:
  void move_blocks(const StepPlan& plan);
  void build_batch(const StepPlan& plan);

  std::unique_ptr<model::Model> model_;
  model::KvCache cache_;
  KvCapacity capacity_;
  std::vector<Buffer> swap_;  // by group: [slot][block]

  // The batch of the step under way.
  std::vector<int32_t> tokens_, positions_, logit_rows_;
  std::vector<std::vector<const int32_t*>> tables_;  // by sequence, by group
  std::vector<model::BatchSequence> sequences_;
  std::vector<float> logits_;
};

}  // namespace pagoda::engine
