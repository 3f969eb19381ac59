// A GGUF's metadata, or a folder's in GGUF's words, as facts for planning: any architecture whose keys are
// the usual ones.
#pragma once

#include "base/result.h"
#include "model/model_facts.h"
#include "model/weight_source.h"

namespace pagoda::model {

Result<ModelFacts> facts_of_weights(const WeightSource& source);

}  // namespace pagoda::model
