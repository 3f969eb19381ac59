// A loaded model: weights packed for one device, and the forward pass over a batch of paged sequences.
#pragma once

#include <memory>

#include "base/result.h"
#include "kernels/compute.h"
#include "model/forward_batch.h"
#include "model/kv_cache.h"
#include "model/model_config.h"
#include "model/weight_source.h"
#include "tensor/tensor_view.h"

namespace pagoda::model {

// How linear layers compute. kAuto takes what the file's weights are made for.
enum class Precision {
  kAuto,      // by the type of the first layer's query weights: kInt8, kBFloat16, kFloat16 or kFloat32
  kFloat32,   // weights dequantised to f32, f32 activations, f32 KV: the reference
  kFloat16,   // weights rounded to f16, f32 activations
  kBFloat16,  // weights and KV rounded to bf16, f32 activations
  kInt8,  // weights as quantised; what is in int8 or less multiplies activations quantised in blocks of 32
};

// What 16- and 32-bit weights of linear layers are quantised to while they are packed.
enum class QuantiseTo : uint8_t {
  kNothing,
  kInt8,  // blocks of 32, as Q8_0
  kInt4,  // blocks of 32; the embedding and the output layer in int8
  kF8,    // E4M3, one scale per row
};

struct LoadOptions {
  Precision precision = Precision::kAuto;
  QuantiseTo quantise_to = QuantiseTo::kNothing;  // with kAuto only
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelConfig& config() const = 0;
  virtual int64_t weight_bytes() const = 0;  // as packed
  virtual Precision precision() const = 0;
  // Computes KV for every row into `cache` and writes the logits of batch.logit_rows, f32 [logit_rows,
  // vocabulary]. One call at a time.
  virtual void forward(const ForwardBatch& batch, KvCache& cache, Matrix logits) = 0;
};

// Reads the config, finds the architecture's row, packs the weights in parallel. `compute` must outlive the
// model.
Result<std::unique_ptr<Model>> load_model(const WeightSource& source, const LoadOptions& options,
                                          kernels::Compute& compute);

}  // namespace pagoda::model
