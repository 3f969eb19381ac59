// A loaded encoder: texts' tokens → a vector each, or a classifier's logits. No KV cache: a text is read at
// once, in both directions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "kernels/compute.h"
#include "model/encoder_config.h"
#include "model/model.h"
#include "model/weight_source.h"
#include "tensor/tensor_view.h"

namespace pagoda::model {

// Texts one after the other.
struct EncoderBatch {
  std::vector<int32_t> tokens;  // [rows], in the vocabulary
  std::vector<int32_t> types;   // [rows]; empty: all 0
  std::vector<int> lengths;     // of each text, 1 to config().context; their sum is rows
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual const EncoderConfig& config() const = 0;
  virtual int64_t weight_bytes() const = 0;  // as packed
  virtual Precision precision() const = 0;
  // Numbers per text: the hidden width, or the classifier's labels.
  virtual int outputs() const = 0;
  // Writes [texts, outputs()]: pooled states, not normalised, or logits. A text's result does not depend on
  // the others. One call at a time.
  virtual void encode(const EncoderBatch& batch, Matrix out) = 0;
};

// `compute` must outlive the encoder.
Result<std::unique_ptr<Encoder>> load_encoder(const WeightSource& source, const LoadOptions& options,
                                              kernels::Compute& compute);

// Activations of one call over `rows` tokens, bytes.
int64_t encoder_activation_bytes(const EncoderConfig& config, int64_t rows);

}  // namespace pagoda::model
