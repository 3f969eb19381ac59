// Calibration: hidden states of sample texts, carried through the layers one at a time, and what each layer's
// linear weights meet on the way.
#pragma once

#include <array>
#include <vector>

#include "kernels/compute.h"
#include "quantize/layer_source.h"

namespace pagoda::quantize {

// The linear weights of a layer that share an input, in the order in which a forward pass comes to them.
struct LinearGroup {
  std::string_view input;                 // for messages
  std::vector<std::string_view> weights;  // "attn_q.weight", …
};
inline constexpr size_t kLinearGroups = 4;
const std::array<LinearGroup, kLinearGroups>& linear_groups();

// What one group's inputs were.
struct InputStatistics {
  int columns = 0;
  int64_t rows = 0;
  std::vector<float> squares;  // [columns, columns]: Σ xᵀx over all rows
  std::vector<float> means;    // [columns]: Σ |x|; divided by rows at the end
};

class Calibration {
 public:
  // Samples of `sample_tokens` tokens each, the last one cut off. Hidden states start as their embeddings.
  // Both must outlive it.
  Calibration(const model::WeightSource& whole, const model::ModelConfig& config,
              std::span<const int32_t> tokens, int sample_tokens, kernels::Compute& compute);

  int samples() const { return static_cast<int>(samples_); }

  // Runs every sample through the layer without changing the hidden states, and tells what was met.
  // kUnsupported where the layer is not made of the groups above.
  Result<std::array<InputStatistics, kLinearGroups>> observe(const LayerSource& layer);
  // Hidden states become the layer's outputs.
  Status advance(const LayerSource& layer);

 private:
  template <class AfterSample>
  Status run(const LayerSource& layer, class ObservingCompute& compute, AfterSample&& after_sample);

  const model::ModelConfig& config_;
  kernels::Compute& compute_;
  const int sample_tokens_;
  size_t samples_ = 0;
  std::vector<float> hidden_;  // [samples][sample_tokens][config.hidden]
};

}  // namespace pagoda::quantize
