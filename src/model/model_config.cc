#include "model/model_config.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/format.h"

namespace pagoda::model {
namespace {

// Key of an architecture's own: "llama" + ".block_count".
class ConfigReader {
 public:
  ConfigReader(const WeightMetadata& metadata, std::string architecture)
      : metadata_(metadata), architecture_(std::move(architecture)) {}

  std::string key(std::string_view suffix) const { return format("{}.{}", architecture_, suffix); }
  bool has(std::string_view suffix) const { return metadata_.has(key(suffix)); }
  const WeightMetadata& metadata() const { return metadata_; }

  // A whole number in [least, most]. Per-layer arrays count where all entries are equal.
  Result<int> integer(std::string_view suffix, int64_t least, int64_t most) const {
    const std::string name = key(suffix);
    if (!metadata_.has(name))
      return fail(ErrorCode::kCorruptData, format("the metadata lack the key {}", name));
    std::optional<int64_t> value = metadata_.integer(name);
    if (const auto* layers = metadata_.integers(name); layers && !layers->empty()) {
      if (std::any_of(layers->begin(), layers->end(), [&](int64_t v) { return v != layers->front(); }))
        return fail(ErrorCode::kUnsupported,
                    format("the key {} differs from layer to layer, which is not supported", name));
      value = layers->front();
    }
    if (!value) return fail(ErrorCode::kCorruptData, format("the key {} is not a whole number", name));
    if (*value < least || *value > most)
      return fail(ErrorCode::kCorruptData,
                  format("the key {} is {}, not in {} to {}", name, *value, least, most));
    return static_cast<int>(*value);
  }
  Result<int> integer_or(std::string_view suffix, int64_t least, int64_t most, int otherwise) const {
    return has(suffix) ? integer(suffix, least, most) : Result<int>(otherwise);
  }

  // A finite number in [least, most].
  Result<float> number(std::string_view suffix, double least, double most) const {
    const std::string name = key(suffix);
    if (!metadata_.has(name))
      return fail(ErrorCode::kCorruptData, format("the metadata lack the key {}", name));
    const std::optional<double> value = metadata_.number(name);
    if (!value) return fail(ErrorCode::kCorruptData, format("the key {} is not a number", name));
    if (!(*value >= least && *value <= most))
      return fail(ErrorCode::kCorruptData,
                  format("the key {} is {}, not in {} to {}", name, *value, least, most));
    return static_cast<float>(*value);
  }
  Result<float> number_or(std::string_view suffix, double least, double most, float otherwise) const {
    return has(suffix) ? number(suffix, least, most) : Result<float>(otherwise);
  }

 private:
  const WeightMetadata& metadata_;
  const std::string architecture_;
};

// Keys that would change the answer and that no architecture here carries out: any other value than the
// neutral one is refused.
struct NeutralKey {
  std::string_view suffix;
  double neutral;
};
constexpr NeutralKey kNeutralKeys[] = {
    {"expert_count", 0},
    {"attn_logit_softcapping", 0},
    {"final_logit_softcapping", 0},
    {"logit_scale", 1},
    {"residual_scale", 1},
    {"embedding_scale", 1},
    {"attention.clamp_kqv", 0},
    {"attention.max_alibi_bias", 0},
    {"attention.temperature_scale", 0},
    {"rope.scaling.attn_factor", 1},
    {"rope.scaling.alpha", 0},
};

Status refuse_unknown_arithmetic(const ConfigReader& reader) {
  for (const NeutralKey& neutral : kNeutralKeys) {
    const std::string key = reader.key(neutral.suffix);
    if (!reader.metadata().has(key)) continue;
    const std::optional<double> value = reader.metadata().number(key);
    if (!value || *value != neutral.neutral)
      return fail(ErrorCode::kUnsupported, format("the key {} has a value that is not supported", key));
  }
  const std::string causal = reader.key("attention.causal");
  if (reader.metadata().has(causal) && !reader.metadata().boolean(causal).value_or(false))
    return fail(ErrorCode::kUnsupported, format("{}: only causal models are supported", causal));
  return {};
}

Result<int> read_vocabulary(const ConfigReader& reader) {
  constexpr int64_t kMost = 1 << 24;
  const auto* tokens = reader.metadata().texts("tokenizer.ggml.tokens");
  if (tokens == nullptr) return reader.integer("vocab_size", 1, kMost);
  // The token list decides, as in llama.cpp: embeddings have its length, and vocab_size is only a remark.
  const int64_t count = static_cast<int64_t>(tokens->size());
  if (count < 1 || count > kMost)
    return fail(ErrorCode::kCorruptData,
                format("the key tokenizer.ggml.tokens has {} entries, not 1 to {}", count, kMost));
  return static_cast<int>(count);
}

Result<int32_t> read_token(const ConfigReader& reader, std::string_view key, int vocabulary) {
  if (!reader.metadata().has(key)) return -1;
  const int64_t token = reader.metadata().integer(key).value_or(-1);
  if (token < 0 || token >= vocabulary)
    return fail(ErrorCode::kCorruptData, format("the key {} is not a token of the {}", key, vocabulary));
  return static_cast<int32_t>(token);
}

Status read_sizes(const ConfigReader& reader, ModelConfig& config) {
  PAGODA_ASSIGN(config.layers, reader.integer("block_count", 1, 1024));
  PAGODA_ASSIGN(config.hidden, reader.integer("embedding_length", 1, 1 << 18));
  PAGODA_ASSIGN(config.ffn, reader.integer("feed_forward_length", 1, 1 << 20));
  PAGODA_ASSIGN(config.context, reader.integer("context_length", 1, 1 << 28));
  PAGODA_ASSIGN(config.vocabulary, read_vocabulary(reader));
  PAGODA_ASSIGN(config.norm_epsilon, reader.number("attention.layer_norm_rms_epsilon", 0.0, 0.1));
  PAGODA_ASSIGN(config.bos, read_token(reader, "tokenizer.ggml.bos_token_id", config.vocabulary));
  PAGODA_ASSIGN(config.eos, read_token(reader, "tokenizer.ggml.eos_token_id", config.vocabulary));
  return {};
}

Status read_heads(const ConfigReader& reader, ModelConfig& config) {
  PAGODA_ASSIGN(config.heads, reader.integer("attention.head_count", 1, 4096));
  PAGODA_ASSIGN(config.kv_heads, reader.integer_or("attention.head_count_kv", 1, 4096, config.heads));
  if (config.heads % config.kv_heads != 0)
    return fail(ErrorCode::kCorruptData,
                format("{} query heads are no multiple of the {} of {}", config.heads, config.kv_heads,
                       reader.key("attention.head_count_kv")));
  if (!reader.has("attention.key_length") && config.hidden % config.heads != 0)
    return fail(ErrorCode::kCorruptData,
                format("the key {} is {}, no multiple of its {} heads, and {} is absent",
                       reader.key("embedding_length"), config.hidden, config.heads,
                       reader.key("attention.key_length")));
  const int even_share = config.hidden / config.heads;
  PAGODA_ASSIGN(config.head_dim, reader.integer_or("attention.key_length", 2, 1024, even_share));
  PAGODA_ASSIGN(const int value_dim, reader.integer_or("attention.value_length", 2, 1024, even_share));
  if (value_dim != config.head_dim)
    return fail(ErrorCode::kUnsupported,
                format("the key {} is {} and keys have {}; only equal lengths are supported",
                       reader.key("attention.value_length"), value_dim, config.head_dim));
  if (config.head_dim % 2 != 0 || config.head_dim > 1024)
    return fail(ErrorCode::kUnsupported,
                format("heads of {} dimensions ({}); an even number up to 1024 is supported", config.head_dim,
                       reader.key("attention.key_length")));
  config.query_scale = 1.f / std::sqrt(static_cast<float>(config.head_dim));
  return {};
}

Status read_rope(const ConfigReader& reader, ModelConfig& config) {
  PAGODA_ASSIGN(config.rope_dims,
                reader.integer_or("rope.dimension_count", 2, config.head_dim, config.head_dim));
  if (config.rope_dims % 2 != 0)
    return fail(ErrorCode::kCorruptData, format("the key {} is {}, an odd number",
                                                reader.key("rope.dimension_count"), config.rope_dims));
  PAGODA_ASSIGN(config.rope_theta, reader.number_or("rope.freq_base", 1.0, 1e12, 10000.f));
  const std::string type_key = reader.key("rope.scaling.type");
  const std::string_view type = reader.metadata().text(type_key).value_or("linear");
  if (type == "none") return {};
  if (type != "linear")
    return fail(
        ErrorCode::kUnsupported,
        format("the key {} is {}; supported are none, linear and the factors of Llama 3", type_key, type));
  // The older name of the factor; zero stood for none.
  const std::string_view factor =
      reader.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
  PAGODA_ASSIGN(config.rope_scale, reader.number_or(factor, 0.0, 1e6, 1.f));
  if (config.rope_scale == 0.f) config.rope_scale = 1.f;
  return {};
}

// Hugging Face's order of q and k rows, which folders keep and GGUF's llama does not.
bool rotates_halves(const ConfigReader& reader) {
  return reader.metadata().text(reader.key("rope.style")).value_or("") == "halves";
}

Status check_whole_rotation(const ConfigReader& reader, const ModelConfig& config) {
  if (config.rope_dims != config.head_dim)
    return fail(ErrorCode::kUnsupported,
                format("the key {} is {}, heads have {}; partial rotation is not supported",
                       reader.key("rope.dimension_count"), config.rope_dims, config.head_dim));
  return {};
}

// Which layers see only the window: an explicit list, or a period whose last layer sees all (1: none does,
// 0: every layer is windowed).
Status read_window_pattern(const ConfigReader& reader, int usual_period, ModelConfig& config) {
  const std::string key = reader.key("attention.sliding_window_pattern");
  config.layer_is_windowed.assign(static_cast<size_t>(config.layers), false);
  if (config.window == 0) return {};
  if (const auto* pattern = reader.metadata().booleans(key)) {
    if (pattern->size() != static_cast<size_t>(config.layers))
      return fail(ErrorCode::kCorruptData,
                  format("the key {} has {} entries for {} layers", key, pattern->size(), config.layers));
    config.layer_is_windowed = *pattern;
    return {};
  }
  PAGODA_ASSIGN(const int period,
                reader.integer_or("attention.sliding_window_pattern", 0, 1024, usual_period));
  for (int layer = 0; layer < config.layers; ++layer)
    config.layer_is_windowed[static_cast<size_t>(layer)] = period == 0 || layer % period < period - 1;
  return {};
}

// Llama, and Mistral, whose first releases have a window in every layer.
Result<ModelConfig> read_llama(const ConfigReader& reader, ModelConfig config) {
  config.rope_style = rotates_halves(reader) ? RopeStyle::kHalves : RopeStyle::kInterleaved;
  PAGODA_ASSIGN(config.window, reader.integer_or("attention.sliding_window", 0, 1 << 28, 0));
  PAGODA_TRY(read_window_pattern(reader, 0, config));
  PAGODA_TRY(check_whole_rotation(reader, config));
  return config;
}

// Qwen 2 and 2.5 (biases of q, k and v), Qwen 3 (norms of each head's q and k).
Result<ModelConfig> read_qwen(const ConfigReader& reader, ModelConfig config) {
  config.rope_style = RopeStyle::kHalves;
  PAGODA_ASSIGN(config.window, reader.integer_or("attention.sliding_window", 0, 1 << 28, 0));
  PAGODA_TRY(read_window_pattern(reader, 0, config));
  PAGODA_TRY(check_whole_rotation(reader, config));
  return config;
}

Result<ModelConfig> read_gemma3(const ConfigReader& reader, ModelConfig config) {
  constexpr int kPeriod = 6;
  constexpr int kLayersOf27B = 62;  // the one size whose scale is that of hidden / heads, not of head_dim
  config.rope_style = RopeStyle::kHalves;
  config.embedding_scale = std::sqrt(static_cast<float>(config.hidden));
  if (config.layers == kLayersOf27B)
    config.query_scale = 1.f / std::sqrt(static_cast<float>(config.hidden / config.heads));
  PAGODA_ASSIGN(config.window, reader.integer_or("attention.sliding_window", 0, 1 << 28, 0));
  if (reader.has("attention.query_pre_attn_scalar")) {
    PAGODA_ASSIGN(const float scalar, reader.number("attention.query_pre_attn_scalar", 1.0, 1e6));
    config.query_scale = 1.f / std::sqrt(scalar);
  }
  PAGODA_TRY(read_window_pattern(reader, kPeriod, config));
  PAGODA_ASSIGN(config.rope_theta_local, reader.number_or("rope.freq_base_swa", 1.0, 1e12, 10000.f));
  return config;
}

struct Architecture {
  std::string_view name;
  Result<ModelConfig> (*read)(const ConfigReader& reader, ModelConfig config);
};
constexpr Architecture kArchitectures[] = {
    {"llama", read_llama},
    {"qwen2", read_qwen},
    {"qwen3", read_qwen},
    {"gemma3", read_gemma3},
};

Result<const Architecture*> find_architecture(std::string_view name) {
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return &architecture;
    known += format("{}{}", known.empty() ? "" : ", ", architecture.name);
  }
  return fail(
      ErrorCode::kUnsupported,
      format("the architecture '{}' (general.architecture) is not supported; supported are {}", name, known));
}

}  // namespace

KvLayout ModelConfig::kv_layout() const {
  KvGroup full{{}, kv_heads, head_dim, 0};
  KvGroup windowed{{}, kv_heads, head_dim, window};
  for (int layer = 0; layer < layers; ++layer)
    (layer_is_windowed[static_cast<size_t>(layer)] ? windowed : full).layers.push_back(layer);
  KvLayout layout;
  if (!full.layers.empty()) layout.push_back(std::move(full));
  if (!windowed.layers.empty()) layout.push_back(std::move(windowed));
  return layout;
}

Result<ModelConfig> read_config(const WeightMetadata& metadata) {
  const auto name = metadata.text("general.architecture");
  if (!name) return fail(ErrorCode::kCorruptData, "the metadata lack the key general.architecture");
  PAGODA_ASSIGN(const Architecture* architecture, find_architecture(*name));
  const ConfigReader reader(metadata, std::string(*name));
  ModelConfig config;
  config.architecture = *name;
  config.name = metadata.text("general.name").value_or("");
  PAGODA_TRY(refuse_unknown_arithmetic(reader));
  PAGODA_TRY(read_sizes(reader, config));
  PAGODA_TRY(read_heads(reader, config));
  PAGODA_TRY(read_rope(reader, config));
  return architecture->read(reader, std::move(config));
}

}  // namespace pagoda::model
