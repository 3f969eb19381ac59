// Speed of the forward pass alone, as llama-bench measures it: prefill of P tokens at once, then D tokens one
// by one; with a batch, B sequences decode together. Prints JSON.
//   model_benchmark MODEL.gguf [--prefill 512] [--decode 128] [--batch 1] [--threads N] [--repeat 5]
//   [--precision auto] [--kv auto]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "engine/batch_runner.h"
#include "kernels/cpu/cpu_compute.h"

namespace pagoda {
namespace {

struct Arguments {
  std::string model;
  std::map<std::string, int> numbers = {{"--prefill", 512}, {"--decode", 128}, {"--batch", 1},
                                        {"--context", 0},   {"--threads", 0},  {"--repeat", 5}};
  model::Precision precision = model::Precision::kAuto;
  std::optional<DType> kv;  // absent: f32 with f32, else bf16
};

const std::map<std::string, model::Precision> kPrecisions = {{"auto", model::Precision::kAuto},
                                                             {"float32", model::Precision::kFloat32},
                                                             {"bfloat16", model::Precision::kBFloat16},
                                                             {"int8", model::Precision::kInt8}};

const std::map<std::string, DType> kKvTypes = {
    {"float32", DType::kF32}, {"bfloat16", DType::kBF16}, {"int8", DType::kI8}};

bool parse(int argc, char** argv, Arguments& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--precision" && i + 1 < argc && kPrecisions.contains(argv[i + 1])) {
      out.precision = kPrecisions.at(argv[++i]);
    } else if (word == "--kv" && i + 1 < argc && kKvTypes.contains(argv[i + 1])) {
      out.kv = kKvTypes.at(argv[++i]);
    } else if (out.numbers.contains(word) && i + 1 < argc) {
      out.numbers[word] = std::atoi(argv[++i]);
    } else if (out.model.empty() && word[0] != '-') {
      out.model = word;
    } else {
      return false;
    }
  }
  return !out.model.empty();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Bench {
 public:
  Bench(engine::BatchRunner& runner, int blocks_per_sequence)
      : runner_(runner), blocks_(blocks_per_sequence) {}

  // One step: each sequence computes `tokens` tokens from `position` on. Seconds.
  double step(int sequences, int position, int tokens) {
    engine::StepPlan plan;
    for (int s = 0; s < sequences; ++s) {
      engine::SequencePlan sequence;
      sequence.first_position = position;
      for (int t = 0; t < tokens; ++t)
        sequence.tokens.push_back((17 * t + 131 * s + position) % runner_.vocabulary());
      std::vector<int32_t> table;
      for (int b = 0; b < blocks_; ++b) table.push_back(s * blocks_ + b);
      sequence.block_tables.assign(runner_.capacity().layout.size(), table);
      sequence.logits = engine::LogitsWanted::kLast;
      plan.sequences.push_back(std::move(sequence));
    }
    Stopwatch watch;
    if (!runner_.run(plan)) std::abort();
    return watch.seconds();
  }

 private:
  engine::BatchRunner& runner_;
  const int blocks_;
};

int run(Arguments& arguments) {
  auto& n = arguments.numbers;
  ThreadPool pool(n["--threads"] > 0 ? n["--threads"]
                                     : static_cast<int>(std::thread::hardware_concurrency()));
  const auto isa = kernels::choose_isa();
  if (!isa) return std::fprintf(stderr, "%s\n", isa.error().message.c_str()), 1;
  kernels::CpuCompute compute(**isa, pool);
  auto source = model::open_weights(arguments.model);
  if (!source) return std::fprintf(stderr, "%s\n", source.error().message.c_str()), 1;
  Stopwatch loading;
  auto loaded = model::load_model(**source, {arguments.precision}, compute);
  if (!loaded) return std::fprintf(stderr, "%s\n", loaded.error().message.c_str()), 1;
  const double load_s = loading.seconds();
  const int64_t weight_bytes = (*loaded)->weight_bytes();
  const int groups = static_cast<int>((*loaded)->config().kv_layout().size());
  const int tokens = std::max(n["--prefill"], n["--context"]) + n["--decode"];
  const int blocks = (tokens + 15) / 16;
  engine::KvSizes sizes;
  if ((*loaded)->precision() == model::Precision::kFloat32) sizes.dtype = DType::kF32;
  sizes.dtype = arguments.kv.value_or(sizes.dtype);
  sizes.blocks.assign(static_cast<size_t>(groups), blocks * n["--batch"]);
  sizes.swap_blocks.assign(static_cast<size_t>(groups), 0);
  engine::BatchRunner runner(std::move(*loaded), sizes);
  Bench bench(runner, blocks);

  std::vector<double> prefill, decode;
  for (int repeat = 0; repeat < n["--repeat"]; ++repeat) {
    if (n["--prefill"] > 0) prefill.push_back(n["--prefill"] / bench.step(1, 0, n["--prefill"]));
    double seconds = 0;
    for (int i = 0; i < n["--decode"]; ++i) seconds += bench.step(n["--batch"], n["--context"] + i, 1);
    if (seconds > 0) decode.push_back(n["--decode"] * n["--batch"] / seconds);
  }
  std::printf(
      "{\"isa\": \"%s\", \"threads\": %d, \"load_s\": %.3f, \"weight_mb\": %.1f, \"prefill\": %d, "
      "\"prefill_tok_s\": "
      "%.1f, \"batch\": %d, \"decode_tok_s\": %.1f}\n",
      std::string((*isa)->name).c_str(), pool.size(), load_s, static_cast<double>(weight_bytes) / 1e6,
      n["--prefill"], median(prefill), n["--batch"], median(decode));
  return 0;
}

}  // namespace
}  // namespace pagoda

int main(int argc, char** argv) {
  pagoda::Arguments arguments;
  if (!pagoda::parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: model_benchmark MODEL.gguf [--prefill 512] [--decode 128] [--batch 1] [--context 0] "
                 "[--threads N] [--repeat 5] [--precision auto|float32|bfloat16|int8] "
                 "[--kv float32|bfloat16|int8]\n");
    return 2;
  }
  return pagoda::run(arguments);
}
