// How weights are held: bits per weight, scales included, of a checkpoint's format or of one made at load.
#pragma once

#include <span>
#include <string_view>

namespace pagoda::model {

struct WeightScheme {
  std::string_view name = "bf16";
  double linear_bits = 16;     // of the layers' matrices
  double embedding_bits = 16;  // of embedding and output layer
  double attention_bits = 16;  // of attention, where only experts or the feed-forward are narrow
  std::string_view summary = "16-bit weights";  // what it is, for people
};

// Group sizes are the usual ones: 128 for AWQ and GPTQ, 32 for blocks of GGUF.
std::span<const WeightScheme> weight_schemes();
// nullptr: no such scheme.
const WeightScheme* find_weight_scheme(std::string_view name);

}  // namespace pagoda::model
