// AWQ: columns that meet large inputs are made larger before they are rounded, and what comes before them
// smaller by as much. Lin et al., "AWQ: Activation-aware Weight Quantization for LLM Compression and
// Acceleration", 2023 (arXiv 2306.00978).
#pragma once

#include <vector>

#include "quantize/calibration.h"
#include "quantize/integer_weights.h"

namespace pagoda {
class ThreadPool;
}

namespace pagoda::quantize {

struct AwqOptions {
  int group = 128;
};

// A weight [rows, columns] of a group that shares an input.
struct SharedInput {
  std::vector<float>* weights = nullptr;
  int rows = 0;
};

// The columns' factors, [columns]: means^α, scaled to a geometric middle of one, with the α of 0, 0.05, … 1
// whose rounded weights make the least squared error on the group's outputs.
std::vector<float> best_column_factors(const std::vector<SharedInput>& group,
                                       const InputStatistics& statistics, const AwqOptions& options,
                                       ThreadPool& pool);

// Rounds [rows, columns] with four bits and a zero point, ranges shrunk where the inputs' squares say that it
// pays.
IntegerWeights quantise_awq(const std::vector<float>& weights, int rows, const InputStatistics& statistics,
                            const std::vector<float>& factors, const AwqOptions& options, ThreadPool& pool);

}  // namespace pagoda::quantize
