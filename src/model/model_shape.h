// The sizes of a model that memory depends on, for models that the engine computes and for those that it only
// plans: one arithmetic (footprint.h, memory_plan.h) serves both.
#pragma once

#include <cstdint>

#include "model/kv_layout.h"
#include "model/model_config.h"

namespace pagoda::model {

// Widths are numbers per token. Of one device's share where a model is split.
struct ModelShape {
  ModelShape() = default;
  ModelShape(const ModelConfig& config);  // NOLINT: every model that is computed has a shape

  int layers = 0;
  int64_t hidden = 0;     // residual stream
  int64_t query = 0;      // heads · head_dim
  int64_t key_value = 0;  // K and V that one token adds in one layer
  int64_t ffn = 0;        // one half (gate or up) of what one token uses
  int64_t vocabulary = 0;
  int64_t context = 0;  // the length that it was trained for
  KvLayout kv;
};

}  // namespace pagoda::model
