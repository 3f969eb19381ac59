// A Hugging Face folder as a source of weights: config.json, *.safetensors (one, or shards by
// model.safetensors.index.json), tokenizer.json, tokenizer_config.json, generation_config.json,
// chat_template.jinja. Tensors and facts are told under GGUF's names, so that everything above reads one
// language. The tensors' data stay in the mappings.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/hugging_face/config_json.h"
#include "model/hugging_face/quantised_tensors.h"
#include "model/hugging_face/safetensors.h"
#include "model/hugging_face/text_store.h"
#include "model/weight_source.h"

namespace pagoda::model {

class HuggingFaceFolder final : public WeightSource {
 public:
  // Fails naming the file that is missing or broken, and what in it.
  static Result<std::unique_ptr<HuggingFaceFolder>> open(const std::string& path);

  const std::string& path() const override { return path_; }
  const WeightMetadata& metadata() const override { return metadata_; }
  const TensorView* find(std::string_view name) const override;
  void for_each(const std::function<void(const std::string& name, const TensorView&)>& visit) const override;
  int64_t tensor_bytes() const override;
  void prefetch() const override;
  void release_pages() const override;

 private:
  explicit HuggingFaceFolder(std::string path) : path_(std::move(path)) {}
  Status read_texts();
  Status read_quantization(const nlohmann::json& config);
  Status read_end_tokens(const nlohmann::json& config);
  Status read_tokenizer();
  Status open_shards();
  void add_shard(const SafetensorsFile& shard);
  Status add_quantised();
  void add_values(std::string name, std::vector<float> values);
  void finish_norms();

  std::string path_;
  TextStore texts_;
  WeightMetadata metadata_;
  HuggingFaceConfig config_;
  std::vector<std::unique_ptr<SafetensorsFile>> shards_;
  std::optional<QuantisedTensors> quantised_;                // of a quantised checkpoint
  std::vector<std::unique_ptr<std::vector<float>>> values_;  // tensors that no file holds as they are
  std::map<std::string, TensorView, std::less<>> tensors_;   // by GGUF's names
};

}  // namespace pagoda::model
