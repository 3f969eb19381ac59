// What a serving process takes beside weights, KV and activations.
#pragma once

#include <cstdint>

#include "model/device_facts.h"
#include "model/model_shape.h"

namespace pagoda::model {

// The program, its threads and the tokenizer's tables on the CPU; context, kernels, workspaces and, where
// `ranks` > 1, buffers of the collectives on a GPU.
int64_t runtime_bytes(DeviceKind kind, const ModelShape& model, int ranks);

// Captured graphs of all batch sizes.
int64_t graph_bytes(const ModelShape& model);

}  // namespace pagoda::model
