// Which type each tensor of a GGUF file gets under a scheme.
#pragma once

#include <string_view>

#include "model/weight_source.h"

namespace pagoda::quantize {

struct GgufScheme {
  std::string_view name;  // "q4_0"
  int file_type;          // general.file_type
  DType weights;
};

// nullptr: no scheme of that name. All: q8_0, q4_0, q4_k.
const GgufScheme* find_gguf_scheme(std::string_view name);

// Norms, biases and whatever is no matrix stay f32. Embedding and output layer get Q6_K (they are a small
// part of a large model and the most sensitive one); in q4_k so do the values and down projections of the
// first eighth, the last eighth and every third of the layers between. Rows that are no whole blocks of 256
// get Q5_0 for Q4_K and Q8_0 for Q6_K.
DType gguf_dtype_of(const GgufScheme& scheme, std::string_view name, const Shape& shape, int layers,
                    bool has_output);

}  // namespace pagoda::quantize
