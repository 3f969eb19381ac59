// What a step costs besides the model: plan, bookkeeping, sampling and publishing, with a runner that does
// nothing.
#include <benchmark/benchmark.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "engine/engine.h"

namespace pagoda::engine {
namespace {

constexpr int kContext = 4096;

class NullRunner final : public ModelRunner {
 public:
  NullRunner(int vocabulary, int sequences) : vocabulary_(vocabulary) {
    capacity_.layout.resize(1);
    capacity_.blocks = {sequences * (kContext / 16 + 1)};
    capacity_.swap_blocks = {0};
    capacity_.block_bytes = {16 * 1024};
    logits_.assign(static_cast<size_t>(vocabulary) * static_cast<size_t>(sequences), 0.f);
    for (size_t i = 0; i < logits_.size(); i += 97) logits_[i] = static_cast<float>(i % 13);
  }
  int vocabulary() const override { return vocabulary_; }
  const KvCapacity& capacity() const override { return capacity_; }
  Result<StepLogits> run(const StepPlan& plan) override {
    int rows = 0;
    for (const SequencePlan& sequence : plan.sequences)
      rows += sequence.logits == LogitsWanted::kNone ? 0 : 1;
    return StepLogits{logits_.data(), rows, vocabulary_};
  }

 private:
  int vocabulary_;
  KvCapacity capacity_;
  std::vector<float> logits_;
};

// Time per step, from the engine's own count of steps. Arguments: sequences, vocabulary.
void EngineStep(benchmark::State& bench) {
  const int sequences = static_cast<int>(bench.range(0));
  const int vocabulary = static_cast<int>(bench.range(1));
  EngineConfig config;
  config.max_model_len = kContext;
  int64_t steps = 0;
  for (auto _ : bench) {
    auto engine = Engine::start(config, std::make_unique<NullRunner>(vocabulary, sequences));
    std::mutex mutex;
    std::condition_variable done;
    int left = sequences;
    for (int i = 0; i < sequences; ++i) {
      Request request;
      request.prompt.assign(64, i % 64);
      request.sampling.temperature = 0;
      request.sampling.ignore_eos = true;
      request.sampling.max_tokens = 2000;
      request.sink = [&](Update&& update) {
        if (!update.finish) return;
        const std::lock_guard lock(mutex);
        if (--left == 0) done.notify_one();
      };
      if (!engine->submit(std::move(request))) return bench.SkipWithError("refused");
    }
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return left == 0; });
    steps += engine->stats().steps;
  }
  bench.counters["step"] = benchmark::Counter(static_cast<double>(steps),
                                              benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
// A vocabulary of 64 leaves the engine's own work; 49152 adds greedy sampling.
BENCHMARK(EngineStep)
    ->ArgNames({"sequences", "vocabulary"})
    ->Args({1, 64})
    ->Args({32, 64})
    ->Args({256, 64})
    ->Args({1, 49152})
    ->Args({32, 49152})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pagoda::engine

BENCHMARK_MAIN();
