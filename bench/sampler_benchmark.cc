// Time to choose one token from a row of 49,152 logits (SmolLM2's vocabulary). The row is copied anew each
// time, as the sampler may scribble on it; "Copy" is what that alone costs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/sampler.h"

namespace pagoda::engine {
namespace {

constexpr int kVocabulary = 49152;

// Shaped like a language model's: a few likely tokens far above a wide normal bulk.
std::vector<float> logits() {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0.f, 2.5f);
  std::vector<float> row(kVocabulary);
  for (float& logit : row) logit = normal(random);
  for (int i = 0; i < 40; ++i) row[random() % kVocabulary] = 16.f - 0.25f * static_cast<float>(i);
  return row;
}

void measure(benchmark::State& bench, const SamplingParams& params) {
  const auto source = logits();
  std::vector<float> row(source.size());
  std::vector<int32_t> prompt(256);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<int32_t>(i * 31);
  Sampler sampler(kVocabulary);
  SamplingState state(params, prompt, {}, 7, 0, kVocabulary);
  for (auto _ : bench) {
    std::ranges::copy(source, row.begin());
    const auto chosen = sampler.sample(state, nullptr, row);
    benchmark::DoNotOptimize(chosen->token);
  }
}

SamplingParams with(float temperature, int top_k = 0, float top_p = 1.f, float min_p = 0.f) {
  SamplingParams params;
  params.temperature = temperature;
  params.top_k = top_k;
  params.top_p = top_p;
  params.min_p = min_p;
  return params;
}

void Copy(benchmark::State& bench) {
  const auto source = logits();
  std::vector<float> row(source.size());
  for (auto _ : bench) {
    std::ranges::copy(source, row.begin());
    benchmark::DoNotOptimize(row.data());
    benchmark::ClobberMemory();
  }
}

void Greedy(benchmark::State& bench) {
  measure(bench, with(0.f));
}
void Temperature(benchmark::State& bench) {
  measure(bench, with(0.8f));
}
void TopP95(benchmark::State& bench) {
  measure(bench, with(0.8f, 0, 0.95f));
}
void TopP95Hot(benchmark::State& bench) {
  measure(bench, with(2.f, 0, 0.95f));
}
void TopK50(benchmark::State& bench) {
  measure(bench, with(0.8f, 50));
}
void TopK50TopP95(benchmark::State& bench) {
  measure(bench, with(0.8f, 50, 0.95f));
}
void TopK2000(benchmark::State& bench) {
  measure(bench, with(0.8f, 2000));
}
void MinP(benchmark::State& bench) {
  measure(bench, with(0.8f, 0, 1.f, 0.05f));
}
void Penalties(benchmark::State& bench) {
  SamplingParams params = with(0.f);
  params.repetition_penalty = 1.1f;
  params.frequency_penalty = 0.5f;
  measure(bench, params);
}
void GreedyLogprobs20(benchmark::State& bench) {
  SamplingParams params = with(0.f);
  params.logprobs = 20;
  measure(bench, params);
}

BENCHMARK(Copy)->Unit(benchmark::kMicrosecond);
BENCHMARK(Greedy)->Unit(benchmark::kMicrosecond);
BENCHMARK(Temperature)->Unit(benchmark::kMicrosecond);
BENCHMARK(TopP95)->Unit(benchmark::kMicrosecond);
BENCHMARK(TopP95Hot)->Unit(benchmark::kMicrosecond);
BENCHMARK(TopK50)->Unit(benchmark::kMicrosecond);
BENCHMARK(TopK50TopP95)->Unit(benchmark::kMicrosecond);
BENCHMARK(TopK2000)->Unit(benchmark::kMicrosecond);
BENCHMARK(MinP)->Unit(benchmark::kMicrosecond);
BENCHMARK(Penalties)->Unit(benchmark::kMicrosecond);
BENCHMARK(GreedyLogprobs20)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace pagoda::engine

BENCHMARK_MAIN();
