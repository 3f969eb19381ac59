#include "engine/stats.h"

#include <algorithm>

namespace pagoda::engine {

namespace {

// Bounds as vLLM's Prometheus logger declares them (vllm/v1/metrics/loggers.py).
constexpr double kFirstTokenSeconds[] = {0.001, 0.005, 0.01, 0.02,  0.04,  0.06,  0.08, 0.1,
                                         0.25,  0.5,   0.75, 1.0,   2.5,   5.0,   7.5,  10.0,
                                         20.0,  40.0,  80.0, 160.0, 640.0, 2560.0};
constexpr double kTokenSeconds[] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,  0.3,  0.4, 0.5,
                                    0.75, 1.0,   2.5,  5.0,   7.5, 10.0, 20.0, 40.0, 80.0};
constexpr double kRequestSeconds[] = {0.3,  0.5,  0.8,  1.0,  1.5,   2.0,   2.5,   5.0,   10.0,   15.0,  20.0,
                                      30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0};
constexpr double kStepTokens[] = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
constexpr double kChoices[] = {1, 2, 5, 10, 20};

// 1, 2, 5, 10, … up to the context length.
std::vector<double> token_bounds(int max_model_len) {
  std::vector<double> bounds;
  for (int64_t decade = 1; decade <= max_model_len; decade *= 10) {
    for (const int64_t step : {1, 2, 5}) {
      if (step * decade <= max_model_len) bounds.push_back(static_cast<double>(step * decade));
    }
  }
  return bounds;
}

}  // namespace

void Histogram::observe(double value, int64_t times) {
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  counts_[static_cast<size_t>(bucket)] += times;
  sum_ += value * static_cast<double>(times);
  count_ += times;
}

EngineStats::EngineStats(int max_model_len)
    : time_to_first_token(kFirstTokenSeconds),
      inter_token_latency(kTokenSeconds),
      time_per_output_token(kTokenSeconds),
      e2e_latency(kRequestSeconds),
      queue_time(kRequestSeconds),
      inference_time(kRequestSeconds),
      prefill_time(kRequestSeconds),
      decode_time(kRequestSeconds),
      request_prompt_tokens(token_bounds(max_model_len)),
      request_generation_tokens(token_bounds(max_model_len)),
      iteration_tokens(kStepTokens),
      request_params_n(kChoices),
      request_params_max_tokens(token_bounds(max_model_len)) {}

}  // namespace pagoda::engine
