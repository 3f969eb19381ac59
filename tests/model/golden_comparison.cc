#include "golden_comparison.h"

#include <algorithm>
#include <cmath>

namespace pagoda::model {
namespace {

constexpr size_t kTop = 20;

double log_sum_exp(std::span<const float> logits) {
  const double peak = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - peak);
  return peak + std::log(sum);
}

// A NaN or infinity must not pass as small.
void widen(double& most, double delta) {
  most = std::isfinite(delta) ? std::max(most, delta) : INFINITY;
}

void compare_position(const GoldenPosition& golden, std::span<const float> logits,
                      PromptDifference& difference, std::vector<double>& top20) {
  const double log_sum = log_sum_exp(logits);
  widen(difference.max_delta_log_sum, std::abs(log_sum - golden.log_sum));
  for (size_t i = 0; i < golden.top_ids.size(); ++i) {
    const double ours = logits[golden.top_ids[i]];
    const double theirs = golden.top_logits[i];
    widen(difference.max_delta_logit, std::abs(ours - theirs));
    if (i < kTop) top20.push_back(std::abs((ours - log_sum) - (theirs - golden.log_sum)));
  }
  ++difference.positions;
}

void compare_full(const GoldenFull& golden, int stride, std::span<const float> logits,
                  PromptDifference& difference) {
  for (size_t i = 0; i < golden.logits.size(); ++i) {
    const double ours = logits[i * static_cast<size_t>(stride)];
    widen(difference.max_delta_logit, std::abs(ours - static_cast<double>(golden.logits[i])));
  }
}

}  // namespace

PromptDifference compare_prompts(const Golden& golden, ModelUnderTest& model, int step_tokens) {
  PromptDifference difference;
  std::vector<double> top20;
  for (const GoldenPrompt& prompt : golden.prompts) {
    size_t next = 0;  // positions ascend
    model.run(prompt.ids, step_tokens, [&](int position, std::span<const float> logits) {
      if (next < prompt.positions.size() && prompt.positions[next].position == position)
        compare_position(prompt.positions[next++], logits, difference, top20);
      for (const GoldenFull& full : prompt.full) {
        if (full.position == position) compare_full(full, golden.full_stride, logits, difference);
      }
    });
  }
  std::sort(top20.begin(), top20.end());
  difference.top20_delta_p99 = top20[top20.size() * 99 / 100];
  for (const double delta : top20) widen(difference.top20_delta_max, delta);
  return difference;
}

TextDifference compare_text(const Golden& golden, ModelUnderTest& model, int step_tokens) {
  TextDifference difference;
  double second_half = 0;
  int second_half_tokens = 0, same = 0;
  for (size_t window = 0; window < golden.text.windows.size(); ++window) {
    const std::vector<int32_t>& ids = golden.text.windows[window];
    model.run(ids, step_tokens, [&](int position, std::span<const float> logits) {
      const size_t at = static_cast<size_t>(position);
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      same += best == golden.text.best[window][at];
      ++difference.tokens;
      if (at + 1 == ids.size()) return;
      const double nll = log_sum_exp(logits) - static_cast<double>(logits[static_cast<size_t>(ids[at + 1])]);
      difference.nll_all += nll;
      if (at < ids.size() / 2) return;
      second_half += nll;
      ++second_half_tokens;
    });
  }
  difference.top1_agreement = static_cast<double>(same) / difference.tokens;
  difference.perplexity_second_half = std::exp(second_half / second_half_tokens);
  return difference;
}

}  // namespace pagoda::model
