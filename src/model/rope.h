// Rotary position embedding: the angles of a batch's positions. One per distinct set of frequencies.
// Frequencies are theta^(-2i/dims) / divisor_i, positions are divided by the linear scale; both as
// transformers' f32 arithmetic has them, so that logits agree at long positions too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/compute.h"
#include "model/model_config.h"

namespace pagoda::model {

class Rope {
 public:
  // divisors: [dims / 2] or empty.
  Rope(RopeStyle style, int dims, float theta, float scale, std::vector<float> divisors);

  // The angles stay valid until the next call.
  kernels::RopeAngles angles(std::span<const int32_t> positions);

 private:
  kernels::RopePairs pairs_;
  int dims_;
  std::vector<float> frequencies_;  // [dims / 2]
  std::vector<float> cosines_, sines_;
};

}  // namespace pagoda::model
