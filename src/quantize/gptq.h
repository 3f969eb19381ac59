// GPTQ: columns are rounded one after the other, and what each loses is made up for by the columns not yet
// rounded, as far as the inputs' second moments allow. Frantar et al., "GPTQ: Accurate Post-Training
// Quantization for Generative Pre-trained Transformers", 2022 (arXiv 2210.17323).
#pragma once

#include <vector>

#include "base/result.h"
#include "quantize/calibration.h"
#include "quantize/integer_weights.h"

namespace pagoda {
class ThreadPool;
}

namespace pagoda::quantize {

// The upper triangular U with UᵀU = (H + damping)⁻¹, [columns, columns], H being the statistics' squares. The
// damping is a hundredth of the mean of H's diagonal, raised until H can be factorised.
Result<std::vector<float>> inverse_factor(const InputStatistics& statistics, ThreadPool& pool);

struct GptqOptions {
  int bits = 4;
  int group = 128;
  bool symmetric = true;
};

// `weights` [rows, columns] are used up.
IntegerWeights quantise_gptq(std::vector<float>& weights, int rows, int columns,
                             const std::vector<float>& factor, const GptqOptions& options, ThreadPool& pool);

}  // namespace pagoda::quantize
