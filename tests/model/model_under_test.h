// One loaded model and a way to run a token sequence through it: over a paged cache whose blocks are handed
// out in no order, in steps of a given length.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cpu/cpu_compute.h"
#include "model/model.h"

namespace pagoda::model {

class ModelUnderTest {
 public:
  // Aborts with the reason where the file does not load: tests name files that do.
  ModelUnderTest(const std::string& path, Precision precision, int threads = 2);
  // Without it: f32 where the model computes in f32, else bf16.
  void use_kv(DType dtype) { kv_ = dtype; }

  const Model& model() const { return *model_; }
  // Calls visit(position, logits [vocabulary]) for every token, in order.
  void run(std::span<const int32_t> ids, int step_tokens,
           const std::function<void(int position, std::span<const float> logits)>& visit);

 private:
  ThreadPool pool_;
  kernels::CpuCompute compute_;
  std::unique_ptr<WeightSource> source_;
  std::unique_ptr<Model> model_;
  std::optional<DType> kv_;
};

}  // namespace pagoda::model
