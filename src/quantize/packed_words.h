// Codes packed into int32 words as AWQ's and GPTQ's files hold them; the reader's counterpart is
// model/hugging_face/quantised_tensors.h.
#pragma once

#include <vector>

#include "quantize/integer_weights.h"

namespace pagoda::quantize {

struct WordMatrix {
  int64_t rows = 0, columns = 0;
  std::vector<uint32_t> words;
};

// AWQ: [columns, rows / 8] and [groups, rows / 8], eight rows in a word in the order 0 2 4 6 1 3 5 7.
WordMatrix awq_codes(const IntegerWeights& weights);
WordMatrix awq_zeros(const IntegerWeights& weights);
// GPTQ: [columns · bits / 32, rows] and [groups, rows · bits / 32]; zero points less one.
WordMatrix gptq_codes(const IntegerWeights& weights);
WordMatrix gptq_zeros(const IntegerWeights& weights);
// f16 [groups, rows], of both.
std::vector<uint16_t> scales_by_group(const IntegerWeights& weights);

}  // namespace pagoda::quantize
