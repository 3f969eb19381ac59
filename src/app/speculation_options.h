// --speculative-config and the older flags of the same meaning.
#pragma once

#include <optional>
#include <string>

#include "app/flags.h"
#include "engine/ngram_drafter.h"

namespace pagoda::app {

struct SpeculationOptions {
  enum class Method { kNone, kNgram, kModel };
  Method method = Method::kNone;
  std::string model;            // kModel: the one that guesses; a path, or a name in the model cache
  std::optional<int> tokens;    // most guesses of one sequence in one step; absent: 4
  std::optional<int> shortest;  // n-gram: newest tokens that must be found again; absent: 2, or `longest`
  std::optional<int> longest;   // and the most that are compared; absent: 5, or `shortest`
  std::optional<int>
      most_running;  // with more running sequences nothing is guessed; 0: no such bound; absent: 8
};

constexpr int kUsualGuesses = 4;    // where `tokens` is absent
constexpr int kMostGuessedFor = 8;  // where `most_running` is absent

// A JSON object with vLLM's keys: method (ngram or draft_model), model, num_speculative_tokens,
// prompt_lookup_min, prompt_lookup_max, disable_by_batch_size. Keys that are not there keep their value;
// unknown ones are refused by name.
Setter to_speculation(SpeculationOptions* field);
// Refuses values without a method, and a shortest that is longer than the longest.
Status check_speculation(const SpeculationOptions& options);
// Of checked options.
engine::NgramLengths ngram_lengths(const SpeculationOptions& options);
// vLLM's older --speculative-model: "[ngram]", or a model.
Setter to_speculative_model(SpeculationOptions* field);

}  // namespace pagoda::app
