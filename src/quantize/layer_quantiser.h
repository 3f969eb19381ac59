// One layer's weights under AWQ, GPTQ or FP8.
#pragma once

#include <map>
#include <string>

#include "quantize/calibration.h"
#include "quantize/folder_output.h"
#include "quantize/integer_weights.h"

namespace pagoda::quantize {

struct QuantisedLayer {
  std::map<std::string, IntegerWeights> weights;      // by "attn_q.weight"
  std::map<std::string, std::vector<float>> vectors;  // norms and biases that took over columns' factors
};

// Quantises what `layer` holds and replaces its weights by what they have become.
Result<QuantisedLayer> quantise_layer(LayerSource& layer, const model::ModelConfig& config,
                                      Calibration& calibration, const FolderOptions& options,
                                      ThreadPool& pool);

}  // namespace pagoda::quantize
