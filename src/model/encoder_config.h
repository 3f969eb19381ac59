// The facts of an encoder (BERT and its kin): a model that reads a whole text at once and gives one vector
// for it, or a score.
#pragma once

#include <string>

#include "base/result.h"
#include "model/weight_metadata.h"

namespace pagoda::model {

enum class Pooling {
  kMean,   // of all tokens' last hidden states
  kFirst,  // [CLS]
  kLast,
};

enum class EncoderActivation { kGelu, kGeluTanh, kRelu };  // kGelu: with the error function

struct EncoderConfig {
  std::string architecture;  // general.architecture: "bert"
  std::string name;          // general.name
  int layers = 0;
  int hidden = 0;
  int ffn = 0;
  int heads = 0;
  int head_dim = 0;
  int vocabulary = 0;
  int positions = 0;        // rows of the position embedding
  int position_offset = 0;  // of a text's first token (RoBERTa: 2)
  int types = 1;            // rows of the token type embedding
  int context = 0;          // the longest text, tokens
  float norm_epsilon = 1e-12f;
  EncoderActivation activation = EncoderActivation::kGelu;
  Pooling pooling = Pooling::kMean;
  bool normalizes = false;              // vectors have length one
  bool takes_fewer_dimensions = false;  // made so that a vector's beginning is a vector (Matryoshka)
  int labels = 0;                       // of a classifier's head; 0: the model gives vectors
};

// Whether the architecture is an encoder's: the rest is read_config's.
bool is_encoder(const WeightMetadata& metadata);

// Fails, naming the key, when the metadata is incomplete or out of range.
Result<EncoderConfig> read_encoder_config(const WeightMetadata& metadata);

}  // namespace pagoda::model
