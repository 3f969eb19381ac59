// Where weights come from: a GGUF file now, a Hugging Face folder later. Owns the mapping that its views
// point into; read-only and safe to read from many threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/weight_metadata.h"
#include "tensor/tensor_view.h"

namespace pagoda::model {

class WeightSource {
 public:
  virtual ~WeightSource() = default;

  virtual const std::string& path() const = 0;
  virtual const WeightMetadata& metadata() const = 0;
  // nullptr when there is no tensor of that name. Names are GGUF's: "blk.0.attn_q.weight".
  virtual const TensorView* find(std::string_view name) const = 0;
  virtual void for_each(
      const std::function<void(const std::string& name, const TensorView&)>& visit) const = 0;
  virtual int64_t tensor_bytes() const = 0;
  // Every tensor is about to be read: lets the kernel read the file ahead. Returns at once.
  virtual void prefetch() const = 0;
  // The mapped pages are no longer needed by the caller (weights were repacked): give them back to the
  // kernel.
  virtual void release_pages() const = 0;
};

// Whether open_weights would read the folder as Hugging Face's: it has *.safetensors, or a config.json and no
// GGUF file. False for what is no folder.
bool is_hugging_face_folder(const std::string& path);

// Opens what `path` is, or says why it is no model.
Result<std::unique_ptr<WeightSource>> open_weights(const std::string& path);

}  // namespace pagoda::model
