// The MODEL of `pagoda plan` and `pagoda serve --fit auto`: what is known of it, from its files or by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/model.h"
#include "model/model_facts.h"

namespace pagoda::app {

struct PlannedModel {
  model::ModelFacts facts;
  std::string argument;                 // as given: what a command line says
  bool has_weights = false;             // its files are here
  std::optional<int64_t> stored_bytes;  // of its tensors, as they lie in the files
  // Of what this version's engine computes: weights as it packs them, and whether KV is f32 by default.
  std::optional<int64_t> packed_bytes;
  bool float32 = false;
  std::string engine_refusal;  // why this version's engine does not take the files; empty: it does
};

// A folder, a GGUF file, a config.json, a cached model, a hub's name in the cache, a known name. An unknown
// one names the nearest. `precision` counts for packed_bytes.
Result<PlannedModel> find_planned_model(const std::string& argument, model::Precision precision);

// The same of weights that are open already.
Result<PlannedModel> planned_model_of(const model::WeightSource& source, const std::string& argument,
                                      model::Precision precision);

}  // namespace pagoda::app
