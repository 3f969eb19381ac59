// What a server says while it starts: one line per phase, with what it found and the time it took.
#pragma once

#include <string_view>

#include "app/serve_options.h"
#include "app/serving_plan.h"
#include "base/clock.h"
#include "model/model.h"

namespace pagoda::app {

class StartupLog {
 public:
  // Since the process began: what a person waits for.
  double seconds() const;

  void machine(int threads, std::string_view isa) const;
  void source(const model::WeightSource& source, const model::ModelConfig& config);
  void weights(const model::Model& model);
  void draft(const model::WeightSource& source, int64_t bytes);
  void kv(const ServingPlan& plan, const ServeOptions& options);
  void text(std::string_view tokenizer, int vocabulary, bool has_template);
  void serving(const ServeOptions& options, int port, std::string_view model_name) const;

 private:
  double lap();  // seconds since the last phase ended
  Stopwatch phase_;
};

}  // namespace pagoda::app
