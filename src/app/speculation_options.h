// --speculative-config and the older flags of the same meaning.
#pragma once

#include <memory>
#include <optional>

#include "app/flags.h"
#include "engine/drafter.h"

namespace pagoda::app {

struct SpeculationOptions {
  enum class Method { kNone, kNgram };
  Method method = Method::kNone;
  std::optional<int> tokens;    // most guesses of one sequence in one step; absent: 4
  std::optional<int> shortest;  // n-gram: newest tokens that must be found again; absent: 2, or `longest`
  std::optional<int> longest;   // and the most that are compared; absent: 5, or `shortest`
  std::optional<int>
      most_running;  // with more running sequences nothing is guessed; 0: no such bound; absent: 8
};

// A JSON object with vLLM's keys: method, num_speculative_tokens, prompt_lookup_min, prompt_lookup_max,
// disable_by_batch_size. Keys that are not there keep their value; unknown ones are refused by name.
Setter to_speculation(SpeculationOptions* field);
// Refuses values without a method, and a shortest that is longer than the longest.
Status check_speculation(const SpeculationOptions& options);
// Of checked options; null without a method.
std::unique_ptr<engine::Drafter> make_drafter(const SpeculationOptions& options);
// vLLM's older --speculative-model: "[ngram]" is the one that there is.
Setter to_speculative_model(SpeculationOptions* field);

}  // namespace pagoda::app
