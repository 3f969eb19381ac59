// The architectures there are: one file and one row in load_model.cc each.
#pragma once

#include <memory>

#include "model/model.h"
#include "model/weight_loader.h"

namespace pagoda::model {

// The loader keeps the first fault: check weights.status() before the model is used.
std::unique_ptr<Model> make_llama(ModelConfig config, WeightLoader& weights, kernels::Compute& compute);
std::unique_ptr<Model> make_gemma3(ModelConfig config, WeightLoader& weights, kernels::Compute& compute);

}  // namespace pagoda::model
