// The tensors of quantised checkpoints put together again: q_proj.qweight, q_proj.qzeros and q_proj.scales
// are the weight q_proj.weight.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "model/hugging_face/quantization_config.h"
#include "tensor/grouped_weight.h"

namespace pagoda::model {

class QuantisedTensors {
 public:
  explicit QuantisedTensors(const QuantizationConfig& config) : config_(config) {}

  // True when the tensor is a part of a quantised weight: assemble() will tell it. The view's data must
  // outlive this.
  bool take(const std::string& name, const TensorView& view);

  // Every weight by its full name ("model.layers.0.mlp.up_proj.weight"). Fails, naming the weight, where
  // parts are missing or their shapes, types or group numbers do not fit together.
  Result<std::map<std::string, TensorView>> assemble();

 private:
  using Parts = std::map<std::string, TensorView, std::less<>>;  // by what follows the module's name

  Result<TensorView> build(const std::string& name, const Parts& parts);
  Status build_awq(const Parts& parts, GroupedWeight& weight) const;
  Status build_gptq(const Parts& parts, GroupedWeight& weight);
  Status build_packed(const Parts& parts, GroupedWeight& weight);
  Status build_rows(const Parts& parts, GroupedWeight& weight) const;
  Status build_nf4(const Parts& parts, GroupedWeight& weight);
  Status set_scales(const TensorView& scales, GroupedWeight& weight) const;
  Status set_order(const Parts& parts, GroupedWeight& weight);
  Result<std::vector<float>> blocks_of_nf4(const Parts& parts, const TensorView& absmax, float offset) const;

  QuantizationConfig config_;
  std::map<std::string, Parts> modules_;
  // What views point to.
  std::deque<GroupedWeight> weights_;
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<int32_t>> orders_;
};

}  // namespace pagoda::model
