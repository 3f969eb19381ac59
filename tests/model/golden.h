// Golden data of tools/make_goldens.py: what `transformers` makes of a model in f32. The script says how the
// binary file is laid out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pagoda::model {

struct GoldenPosition {
  int position = 0;               // of the prompt: the logits after this token
  std::vector<uint32_t> top_ids;  // by falling logit
  std::vector<float> top_logits;
  double log_sum = 0;  // log Σ exp(logit) over the whole vocabulary
};

struct GoldenFull {
  int position = 0;
  std::vector<float> logits;  // of the ids 0, stride, 2·stride, …
};

struct GoldenPrompt {
  std::string name;
  std::vector<int32_t> ids;
  std::vector<GoldenPosition> positions;
  std::vector<GoldenFull> full;
};

// A text in windows that are computed each on its own, as llama.cpp's llama-perplexity does.
struct GoldenText {
  std::vector<std::vector<int32_t>> windows;
  std::vector<std::vector<int32_t>> best;  // the reference's argmax after each token
  double nll_all = 0;                      // −Σ log p over all predicted tokens
  double perplexity_second_half = 0;       // over the predicted tokens of every window's second half
  double llama_cpp_second_half = 0;        // llama.cpp's figure for the same; 0: not measured
};

struct Golden {
  int vocabulary = 0;
  int full_stride = 1;
  std::vector<GoldenPrompt> prompts;
  GoldenText text;
  double bf16_top20_delta_max = 0;  // of transformers' own bf16 run at the same positions
};

// tests/model/data/NAME.json and .bin; ends the test program where they are missing or torn.
Golden read_golden(const std::string& name);

// The path of a file in tests/model/data.
std::string test_data(const std::string& name);

// A real model's file: in $PAGODA_MODELS, else in the user's cache folder pagoda/models; empty when it is not
// there.
std::string real_model(const std::string& file);

}  // namespace pagoda::model
