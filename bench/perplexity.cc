// Perplexity of a text, as llama-perplexity counts it: windows of N tokens, each on its own, of which the
// second half is scored. Prints JSON.
//   perplexity MODEL TEXT.txt [--window 512] [--windows 1000] [--threads N] [--precision auto|float32]
//   [--quantise int8|int4|fp8]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "kernels/cpu/cpu_compute.h"
#include "model/model.h"
#include "model/quantisation_choice.h"
#include "text/tokenizer.h"

namespace pagoda {
namespace {

struct Arguments {
  std::vector<std::string> words;  // MODEL, TEXT
  std::map<std::string, int> numbers = {{"--window", 512}, {"--windows", 1000}, {"--threads", 0}};
  std::string precision = "auto", quantise;
};

bool parse(int argc, char** argv, Arguments& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool value = i + 1 < argc;
    if (word == "--precision" && value) {
      out.precision = argv[++i];
    } else if (word == "--quantise" && value) {
      out.quantise = argv[++i];
    } else if (out.numbers.contains(word) && value) {
      out.numbers[word] = std::atoi(argv[++i]);
    } else if (word[0] != '-') {
      out.words.push_back(word);
    } else {
      return false;
    }
  }
  return out.words.size() == 2;
}

class Scorer {
 public:
  Scorer(model::Model& model, int window) : model_(model), window_(window) {
    const model::KvLayout layout = model.config().kv_layout();
    const DType dtype = model.precision() == model::Precision::kFloat32 ? DType::kF32 : DType::kBF16;
    const int blocks = (window + 15) / 16;
    cache_ = std::make_unique<model::KvCache>(layout, dtype, 16, std::vector<int>(layout.size(), blocks));
    table_.resize(static_cast<size_t>(blocks));
    std::iota(table_.begin(), table_.end(), 0);
    tables_.assign(layout.size(), table_.data());
    positions_.resize(static_cast<size_t>(window));
    std::iota(positions_.begin(), positions_.end(), 0);
    rows_.resize(static_cast<size_t>(window - 1 - window / 2));
    std::iota(rows_.begin(), rows_.end(), window / 2);
  }

  // Adds the window's second half to the sum.
  void score(std::span<const int32_t> tokens) {
    const auto vocabulary = static_cast<size_t>(model_.config().vocabulary);
    std::vector<float> logits(rows_.size() * vocabulary);
    const model::BatchSequence sequence{0, window_, 0, tables_};
    const model::ForwardBatch batch{tokens, positions_, {&sequence, 1}, rows_};
    model_.forward(batch, *cache_,
                   Matrix(logits.data(), static_cast<int>(rows_.size()), static_cast<int>(vocabulary)));
    for (size_t i = 0; i < rows_.size(); ++i) {
      const float* row = logits.data() + i * vocabulary;
      const float peak = *std::max_element(row, row + vocabulary);
      double total = 0;
      for (size_t id = 0; id < vocabulary; ++id) total += std::exp(static_cast<double>(row[id] - peak));
      const int32_t next = tokens[static_cast<size_t>(rows_[i]) + 1];
      nll_ -= row[next] - peak - std::log(total);
      ++count_;
    }
  }
  double perplexity() const { return std::exp(nll_ / count_); }
  int count() const { return count_; }

 private:
  model::Model& model_;
  const int window_;
  std::unique_ptr<model::KvCache> cache_;
  std::vector<int32_t> table_, positions_, rows_;
  std::vector<const int32_t*> tables_;
  double nll_ = 0;
  int count_ = 0;
};

Status run(Arguments& arguments) {
  ThreadPool pool(arguments.numbers["--threads"] > 0 ? arguments.numbers["--threads"]
                                                     : static_cast<int>(std::thread::hardware_concurrency()));
  PAGODA_ASSIGN(const kernels::IsaTable* isa, kernels::choose_isa());
  kernels::CpuCompute compute(*isa, pool);
  PAGODA_ASSIGN(const auto source, model::open_weights(arguments.words[0]));
  model::LoadOptions load;
  if (arguments.precision == "float32") load.precision = model::Precision::kFloat32;
  PAGODA_ASSIGN(load.quantise_to, model::choose_quantisation(*source, arguments.quantise));
  PAGODA_ASSIGN(const auto model, model::load_model(*source, load, compute));
  PAGODA_ASSIGN(const auto tokenizer, text::load_tokenizer(source->metadata()));
  std::ifstream file(arguments.words[1], std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  const auto tokens = tokenizer->encode(text.str(), {.parse_special = false});
  const auto window = static_cast<size_t>(arguments.numbers["--window"]);
  const size_t windows =
      std::min(tokens.size() / window, static_cast<size_t>(arguments.numbers["--windows"]));
  Scorer scorer(*model, static_cast<int>(window));
  Stopwatch watch;
  for (size_t i = 0; i < windows; ++i) {
    std::vector<int32_t> ids(tokens.begin() + static_cast<std::ptrdiff_t>(i * window),
                             tokens.begin() + static_cast<std::ptrdiff_t>((i + 1) * window));
    if (tokenizer->adds_bos()) ids[0] = tokenizer->bos();
    scorer.score(ids);
  }
  std::printf(
      "{\"perplexity\": %.4f, \"tokens\": %d, \"windows\": %zu, \"weight_mb\": %.1f, \"seconds\": %.1f}\n",
      scorer.perplexity(), scorer.count(), windows, static_cast<double>(model->weight_bytes()) / 1e6,
      watch.seconds());
  return {};
}

}  // namespace
}  // namespace pagoda

int main(int argc, char** argv) {
  pagoda::Arguments arguments;
  if (!pagoda::parse(argc, argv, arguments)) {
    std::fprintf(
        stderr,
        "usage: perplexity MODEL TEXT.txt [--window 512] [--windows 1000] [--threads N] [--precision "
        "auto|float32] [--quantise int8|int4|fp8]\n");
    return 2;
  }
  const auto done = pagoda::run(arguments);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
