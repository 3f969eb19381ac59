#include "model/encoder_config.h"

#include <algorithm>

#include "base/format.h"

namespace pagoda::model {
namespace {

constexpr std::string_view kArchitecture = "bert";

class Reader {
 public:
  explicit Reader(const WeightMetadata& metadata) : metadata_(metadata) {}

  Result<int> integer(std::string_view suffix, int64_t low, int64_t high) const {
    const std::string key = format("{}.{}", kArchitecture, suffix);
    const auto value = metadata_.integer(key);
    if (!value)
      return fail(ErrorCode::kCorruptData,
                  format("the key {} is {}", key, metadata_.has(key) ? "no integer" : "missing"));
    if (*value < low || *value > high)
      return fail(ErrorCode::kCorruptData, format("the key {} is {}, not {} to {}", key, *value, low, high));
    return static_cast<int>(*value);
  }
  Result<int> integer_or(std::string_view suffix, int64_t low, int64_t high, int otherwise) const {
    if (!metadata_.has(format("{}.{}", kArchitecture, suffix))) return otherwise;
    return integer(suffix, low, high);
  }
  bool flag(std::string_view suffix) const {
    return metadata_.boolean(format("{}.{}", kArchitecture, suffix)).value_or(false);
  }
  std::string text(std::string_view suffix, std::string_view otherwise) const {
    return std::string(metadata_.text(format("{}.{}", kArchitecture, suffix)).value_or(otherwise));
  }
  const WeightMetadata& metadata() const { return metadata_; }

 private:
  const WeightMetadata& metadata_;
};

Status read_sizes(const Reader& reader, EncoderConfig& config) {
  PAGODA_ASSIGN(config.layers, reader.integer("block_count", 1, 1024));
  PAGODA_ASSIGN(config.hidden, reader.integer("embedding_length", 1, 1 << 16));
  PAGODA_ASSIGN(config.ffn, reader.integer("feed_forward_length", 1, 1 << 18));
  PAGODA_ASSIGN(config.heads, reader.integer("attention.head_count", 1, 1024));
  if (config.hidden % config.heads != 0)
    return fail(ErrorCode::kCorruptData,
                format("the key bert.embedding_length is {}, no multiple of its {} heads", config.hidden,
                       config.heads));
  config.head_dim = config.hidden / config.heads;
  PAGODA_ASSIGN(config.positions, reader.integer("context_length", 1, 1 << 20));
  PAGODA_ASSIGN(config.position_offset, reader.integer_or("position_offset", 0, config.positions - 1, 0));
  const int most = config.positions - config.position_offset;
  PAGODA_ASSIGN(config.context, reader.integer_or("max_sequence_length", 1, 1 << 20, most));
  config.context = std::min(config.context, most);
  const auto* tokens = reader.metadata().texts("tokenizer.ggml.tokens");
  const int counted = tokens == nullptr ? 0 : static_cast<int>(std::min<size_t>(tokens->size(), 1 << 24));
  PAGODA_ASSIGN(config.vocabulary, reader.integer_or("vocab_size", 1, 1 << 24, counted));
  if (counted > config.vocabulary)
    return fail(ErrorCode::kCorruptData,
                format("the tokenizer has {} tokens and the model rows for {}", counted, config.vocabulary));
  PAGODA_ASSIGN(config.labels, reader.integer_or("labels", 1, 1 << 16, 0));
  const auto types = reader.metadata().integer("tokenizer.ggml.token_type_count").value_or(2);
  config.types = static_cast<int>(std::clamp<int64_t>(types, 1, 1024));
  return {};
}

Status read_arithmetic(const Reader& reader, EncoderConfig& config) {
  const double epsilon = reader.metadata().number("bert.attention.layer_norm_epsilon").value_or(1e-12);
  if (!(epsilon >= 0 && epsilon <= 0.1))
    return fail(ErrorCode::kCorruptData, "the key bert.attention.layer_norm_epsilon is not 0 to 0.1");
  config.norm_epsilon = static_cast<float>(epsilon);
  const std::string activation = reader.text("activation", "gelu");
  if (activation == "gelu") {
    config.activation = EncoderActivation::kGelu;
  } else if (activation == "gelu_new" || activation == "gelu_pytorch_tanh") {
    config.activation = EncoderActivation::kGeluTanh;
  } else if (activation == "relu") {
    config.activation = EncoderActivation::kRelu;
  } else {
    return fail(
        ErrorCode::kUnsupported,
        format("the activation '{}' is not supported; supported are gelu, gelu_new, relu", activation));
  }
  // GGUF's numbers.
  PAGODA_ASSIGN(const int pooling, reader.integer_or("pooling_type", 0, 4, 1));
  constexpr int kNone = 0, kClass = 2, kLastToken = 3, kRank = 4;
  if (pooling == kNone)
    return fail(ErrorCode::kUnsupported, "bert.pooling_type: a vector for each token is not supported");
  config.pooling = pooling == kClass || pooling == kRank ? Pooling::kFirst
                   : pooling == kLastToken               ? Pooling::kLast
                                                         : Pooling::kMean;
  config.normalizes = reader.flag("normalizes");
  config.takes_fewer_dimensions = reader.flag("takes_fewer_dimensions");
  return {};
}

}  // namespace

bool is_encoder(const WeightMetadata& metadata) {
  return metadata.text("general.architecture") == kArchitecture;
}

Result<EncoderConfig> read_encoder_config(const WeightMetadata& metadata) {
  EncoderConfig config;
  config.architecture = kArchitecture;
  config.name = metadata.text("general.name").value_or("");
  const Reader reader(metadata);
  PAGODA_TRY(read_sizes(reader, config));
  PAGODA_TRY(read_arithmetic(reader, config));
  return config;
}

}  // namespace pagoda::model
