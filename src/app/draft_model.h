// The small model that guesses for the large one (--speculative-config with a model).
#pragma once

#include <memory>

#include "app/serve_options.h"
#include "base/result.h"
#include "engine/batch_runner.h"
#include "engine/drafter.h"
#include "kernels/compute.h"
#include "model/model.h"
#include "model/weight_source.h"

namespace pagoda::app {

struct DraftModel {
  std::unique_ptr<model::WeightSource> source;  // outlives the drafter
  std::unique_ptr<model::Model> model;
  engine::KvSizes kv;
  int64_t bytes = 0;  // of weights and KV
};

// Fails when the model cannot be loaded, or its tokens are not those of `target`. Its KV reaches for as many
// sequences of `max_model_len` as are guessed for at once, but takes no more than `most_kv_bytes`.
Result<DraftModel> load_draft_model(const ServeOptions& options, const model::WeightSource& target,
                                    int max_model_len, int64_t most_kv_bytes, kernels::Compute& compute);

// For a model of `vocabulary` tokens. Null where nothing is to be guessed. Takes the model out of `draft`.
std::unique_ptr<engine::Drafter> make_drafter(const ServeOptions& options, DraftModel& draft, int vocabulary);

}  // namespace pagoda::app
