#include "quantize/layer_source.h"

#include "base/format.h"

namespace pagoda::quantize {
namespace {

constexpr std::string_view kFirstLayer = "blk.0.";

TensorView view_of(const std::vector<float>& values, Shape shape) {
  return {reinterpret_cast<const std::byte*>(values.data()), DType::kF32, shape};
}

}  // namespace

LayerSource::LayerSource(const model::WeightSource& whole, const model::ModelConfig& config, int layer)
    : whole_(whole), prefix_(format("blk.{}.", layer)), embedding_(static_cast<size_t>(config.hidden)) {
  for (const auto& [key, value] : whole.metadata().values()) {
    if (!key.starts_with("tokenizer.")) metadata_.set(key, value);
  }
  const std::string at = config.architecture + ".";
  metadata_.set(at + "block_count", int64_t{1});
  metadata_.set(at + "vocab_size", int64_t{1});
  if (config.window > 0) {
    metadata_.set(at + "attention.sliding_window_pattern",
                  std::vector<bool>{config.layer_is_windowed[static_cast<size_t>(layer)]});
  }
  embedding_view_ = view_of(embedding_, Shape{1, config.hidden});
}

void LayerSource::replace(const std::string& name, Shape shape, std::vector<float> values) {
  Replacement& kept = replaced_[name];
  kept.values = std::move(values);
  kept.view = view_of(kept.values, shape);
}

const TensorView* LayerSource::in_layer(const std::string& name) const {
  const auto replaced = replaced_.find(name);
  return replaced != replaced_.end() ? &replaced->second.view : whole_.find(prefix_ + name);
}

const TensorView* LayerSource::find(std::string_view name) const {
  if (name == "token_embd.weight") return &embedding_view_;
  if (name == "output.weight") return nullptr;  // its rows are the vocabulary, which is not there
  if (!name.starts_with(kFirstLayer)) return whole_.find(name);
  return in_layer(std::string(name.substr(kFirstLayer.size())));
}

void LayerSource::for_each(
    const std::function<void(const std::string& name, const TensorView&)>& visit) const {
  visit("token_embd.weight", embedding_view_);
  whole_.for_each([&](const std::string& name, const TensorView&) {
    if (!name.starts_with(prefix_)) return;
    const std::string inside = name.substr(prefix_.size());
    visit(std::string(kFirstLayer) + inside, *in_layer(inside));
  });
}

}  // namespace pagoda::quantize
