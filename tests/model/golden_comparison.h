// How far a model's logits are from the golden ones.
#pragma once

#include "golden.h"
#include "model_under_test.h"

namespace pagoda::model {

struct PromptDifference {
  double max_delta_logit = 0;  // over the golden top ids, and over all ids where the golden has all
  double max_delta_log_sum = 0;
  double top20_delta_p99 = 0;  // of |Δ log p| over the reference's twenty best
  double top20_delta_max = 0;
  int positions = 0;
};
PromptDifference compare_prompts(const Golden& golden, ModelUnderTest& model, int step_tokens);

struct TextDifference {
  double nll_all = 0;
  double perplexity_second_half = 0;
  double top1_agreement = 0;  // share of tokens after which the best id is the reference's
  int tokens = 0;
};
TextDifference compare_text(const Golden& golden, ModelUnderTest& model, int step_tokens);

}  // namespace pagoda::model
