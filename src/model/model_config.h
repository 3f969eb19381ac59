// The facts of one model that its forward pass and its footprint need, read from the metadata.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/kv_layout.h"
#include "model/weight_metadata.h"

namespace pagoda::model {

enum class RopeStyle {
  kInterleaved,  // pairs (2i, 2i+1): llama in GGUF, whose q and k rows are permuted for it
  kHalves,       // pairs (i, i + dim/2): gemma, qwen and Hugging Face's order
};

struct ModelConfig {
  std::string architecture;  // GGUF's general.architecture: "llama", "gemma3"
  std::string name;          // general.name, or the file's
  int layers = 0;
  int hidden = 0;  // width of the residual stream
  int ffn = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;    // of K and Q
  int vocabulary = 0;  // rows of the embedding
  int context = 0;     // the length that it was trained for
  float norm_epsilon = 1e-5f;
  RopeStyle rope_style = RopeStyle::kInterleaved;
  int rope_dims = 0;  // leading dims of each head that rotate
  float rope_theta = 10000.f;
  float rope_scale = 1.f;  // linear scaling: positions are divided by it, but not in sliding-window layers
  float rope_theta_local = 0.f;  // of sliding-window layers where it differs, else 0
  // Per pair, [rope_dims / 2]: its frequency is divided by it (llama3). Files keep them as the tensor
  // rope_freqs.weight, so read_config leaves them empty and load_model fills them in. Empty: none.
  std::vector<float> rope_divisors;
  float query_scale = 0.f;      // softmax(q·k · query_scale)
  float embedding_scale = 1.f;  // what embeddings are multiplied by before the first layer
  int window = 0;               // reach of sliding-window layers; 0: none
  std::vector<bool> layer_is_windowed;
  int32_t bos = -1, eos = -1;

  KvLayout kv_layout() const;
};

// Fails, naming the key, when the metadata is incomplete, contradicts itself or is out of range.
Result<ModelConfig> read_config(const WeightMetadata& metadata);

}  // namespace pagoda::model
