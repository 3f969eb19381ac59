// Whether a model fits as it is to be served, decided before its weights are loaded.
#pragma once

#include <cstdint>

#include "app/serve_options.h"
#include "base/result.h"
#include "model/model_config.h"
#include "model/weight_source.h"

namespace pagoda::app {

// Where it does not fit: with --fit auto, changes the options by the first rung of the ladder that does, and
// logs it; else prints the plan that `pagoda plan` would and fails. `available` is the device's memory.
Status fit_serving(ServeOptions& options, const model::WeightSource& source, const model::ModelConfig& config,
                   int64_t available);

}  // namespace pagoda::app
