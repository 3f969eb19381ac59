// One layer of a model as a model of its own: what is needed to compute a layer without the others in memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/model_config.h"
#include "model/weight_source.h"

namespace pagoda::quantize {

class LayerSource final : public model::WeightSource {
 public:
  // Tensors of layer `layer` as "blk.0.…", and an embedding of one zero row: hidden states are put in its
  // place. `whole` must outlive this.
  LayerSource(const model::WeightSource& whole, const model::ModelConfig& config, int layer);

  // Another weight for `name` ("ffn_up.weight"), [rows, columns].
  void replace(const std::string& name, Shape shape, std::vector<float> values);
  // The layer's own tensor, or what replaces it; nullptr where there is none.
  const TensorView* in_layer(const std::string& name) const;

  const std::string& path() const override { return whole_.path(); }
  const model::WeightMetadata& metadata() const override { return metadata_; }
  const TensorView* find(std::string_view name) const override;
  void for_each(const std::function<void(const std::string& name, const TensorView&)>& visit) const override;
  int64_t tensor_bytes() const override { return 0; }
  void prefetch() const override {}
  void release_pages() const override { whole_.release_pages(); }

 private:
  struct Replacement {
    std::vector<float> values;
    TensorView view;
  };

  const model::WeightSource& whole_;
  const std::string prefix_;  // "blk.12."
  model::WeightMetadata metadata_;
  std::vector<float> embedding_;
  TensorView embedding_view_;
  std::map<std::string, Replacement, std::less<>> replaced_;
};

}  // namespace pagoda::quantize
