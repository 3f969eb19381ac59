// How far a model's logits are from the golden ones.
#pragma once

#include <vector>

#include "golden.h"
#include "model_under_test.h"

namespace pagoda::model {

struct PromptDifference {
  double max_delta_logit = 0;  // over the golden top ids, and over all ids where the golden has all
  double max_delta_log_sum = 0;
  std::vector<double> top20;  // |Δ log p| of the reference's twenty best at every golden position
  int positions = 0;

  double top20_p99() const;
  double top20_max() const;
  void add(const PromptDifference& other);
};
PromptDifference compare_prompt(const Golden& golden, const GoldenPrompt& prompt, ModelUnderTest& model,
                                int step_tokens);

struct TextDifference {
  double nll_all = 0;
  double perplexity_second_half = 0;
  double top1_agreement = 0;  // share of tokens after which the best id is the reference's
  int tokens = 0;
};
// Over the first `windows` windows.
TextDifference compare_text(const Golden& golden, ModelUnderTest& model, int step_tokens, size_t windows);

}  // namespace pagoda::model
