// What can be known of a model without its weights, for any model that people serve: the facts of a
// config.json, of a GGUF's metadata, or of the table of known models. Wider than ModelConfig: it also holds
// what the engine does not compute (experts, latent attention), because planning needs sizes only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model_shape.h"
#include "model/weight_scheme.h"

namespace pagoda::model {

enum class LayerReach : uint8_t {
  kFull,      // sees all positions
  kWindowed,  // sees the last `window`
  kState,     // keeps a state of fixed size (Mamba, linear attention): no KV
};

// Feed-forward layers of which each token uses a few of many. count 0: none.
struct ExpertFacts {
  int count = 0;
  int per_token = 0;
  int ffn = 0;           // width of one expert
  int shared_ffn = 0;    // width of all experts together that every token uses
  int dense_layers = 0;  // leading layers with an ordinary feed-forward
};

// Multi-head latent attention (DeepSeek V2 and later): K and V are kept as one narrow vector. kv_rank 0:
// none.
struct LatentFacts {
  int kv_rank = 0;
  int query_rank = 0;  // 0: queries come straight from the stream
  int rope_dim = 0;    // of K, kept beside the latent vector
  int nope_dim = 0;
  int value_dim = 0;
};

struct ModelFacts {
  std::string name;
  std::string architecture;  // config.json's model_type, or GGUF's general.architecture
  int layers = 0;
  int hidden = 0;
  int ffn = 0;  // of layers without experts
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int vocabulary = 0;
  int64_t context = 0;
  int window = 0;                 // 0: none
  std::vector<LayerReach> reach;  // per layer
  int64_t state_bytes = 0;        // of one sequence in all kState layers
  bool tied_output = false;       // the embedding serves as output layer
  bool gated_ffn = true;          // gate, up and down; else up and down
  bool qkv_bias = false;
  bool head_norms = false;  // norms of each head's q and k
  int norms_per_layer = 2;  // of the stream's width
  ExpertFacts experts;
  LatentFacts latent;
  WeightScheme scheme;  // how the checkpoint holds its weights
};

enum class WeightRole : uint8_t { kEmbedding, kOutput, kAttention, kFeedForward, kExpert, kRouter, kNorm };

// How tensor parallelism treats a matrix.
enum class TensorSplit : uint8_t {
  kDivided,
  kByKvHead,  // K and V: never less than one head on a device
  kCopied,
};

// `count` matrices of [rows, columns] in the whole model.
struct WeightKind {
  WeightRole role;
  TensorSplit split;
  int64_t count;
  int64_t rows;
  int64_t columns;
  double used = 1;  // share that one token reads

  int64_t elements() const;  // at most 2^63 − 1
};

std::vector<WeightKind> weight_kinds(const ModelFacts& facts);
int64_t parameter_count(const ModelFacts& facts);
int64_t parameters_used_per_token(const ModelFacts& facts);

// KV groups as ModelConfig::kv_layout() makes them; latent vectors are a group whose K and V are half each.
KvLayout kv_layout(const ModelFacts& facts);
ModelShape shape_of(const ModelFacts& facts);

// Facts that contradict each other, or without which nothing can be computed: kCorruptData, naming one.
Status check_facts(const ModelFacts& facts);

}  // namespace pagoda::model
