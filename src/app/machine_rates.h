// How fast this machine's CPU reads memory and computes, measured in a moment: for plans.
#pragma once

#include "model/deployment_plan.h"
#include "model/swap_forecast.h"

namespace pagoda::app {

// Bytes per second, all usable cores together.
double memory_read_rate();

// What a step of the model costs here. The kernels multiply matrices of its width and format, large enough to
// come from memory, by one row and by many.
Result<model::StepRates> measure_step_rates(const model::DeploymentPlan& plan);

}  // namespace pagoda::app
