#include "model/hugging_face/config_facts.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "model/footprint.h"

namespace pagoda::model {
namespace {

using Json = nlohmann::json;

// What a model_type has that its config.json does not say: what `transformers` fills in for absent keys, and
// the form of its layers.
struct ModelType {
  std::string_view name;
  bool tied = false;
  bool gated = true;
  bool qkv_bias = false;
  bool head_norms = false;
  int norms_per_layer = 2;
  int window_period = 0;  // the last layer of each period sees all; 0: every layer is windowed
  std::string_view defaults = "{}";
};
constexpr ModelType kModelTypes[] = {
    {.name = "llama"},
    {.name = "mistral"},
    {.name = "mixtral"},
    {.name = "qwen2", .qkv_bias = true},
    {.name = "qwen2_moe", .qkv_bias = true},
    {.name = "qwen3", .head_norms = true},
    {.name = "qwen3_moe", .head_norms = true},
    {.name = "qwen3_next", .head_norms = true},
    {.name = "gemma", .tied = true},
    {.name = "gemma2", .tied = true, .norms_per_layer = 4, .window_period = 2},
    {.name = "gemma3_text",
     .tied = true,
     .head_norms = true,
     .norms_per_layer = 4,
     .window_period = 6,
     .defaults = R"({"vocab_size": 262208, "max_position_embeddings": 131072, "num_attention_heads": 8,
                     "num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096})"},
    {.name = "phi", .gated = false, .qkv_bias = true, .norms_per_layer = 1},
    {.name = "phi3"},
    {.name = "deepseek_v2"},
    {.name = "deepseek_v3"},
    {.name = "gpt_oss", .qkv_bias = true, .window_period = 2},
    {.name = "smollm3", .tied = true},
    {.name = "gpt2",
     .tied = true,
     .gated = false,
     .norms_per_layer = 4,
     .defaults = R"({"n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024, "vocab_size": 50257})"},
};
constexpr ModelType kOtherType = {};

// One fact under the names that it has had.
constexpr const char* kLayers[] = {"num_hidden_layers", "n_layer"};
constexpr const char* kHidden[] = {"hidden_size", "n_embd"};
constexpr const char* kFfn[] = {"intermediate_size", "n_inner"};
constexpr const char* kHeads[] = {"num_attention_heads", "n_head"};
constexpr const char* kContext[] = {"max_position_embeddings", "n_positions"};
constexpr const char* kVocabulary[] = {"vocab_size"};
constexpr const char* kExperts[] = {"num_local_experts", "n_routed_experts", "num_experts"};
constexpr const char* kExpertsUsed[] = {"num_experts_per_tok", "experts_per_token"};
constexpr int64_t kMost = int64_t{1} << 28;  // of any number that counts
constexpr int kMostLayers = 4096;

class FactReader {
 public:
  explicit FactReader(Json config) : config_(std::move(config)) {}

  Result<ModelFacts> read() {
    PAGODA_TRY(read_type());
    PAGODA_TRY(read_sizes());
    read_heads();
    read_experts();
    read_latent();
    PAGODA_TRY(read_reach());
    facts_.tied_output = flag("tie_word_embeddings", type_->tied);
    facts_.gated_ffn = type_->gated;
    facts_.qkv_bias = flag("attention_bias", type_->qkv_bias);
    facts_.head_norms = type_->head_norms;
    facts_.norms_per_layer = type_->norms_per_layer;
    read_scheme();
    PAGODA_TRY(check_facts(facts_));
    return std::move(facts_);
  }

 private:
  const Json* find(const char* key) const {
    const auto found = config_.find(key);
    return found == config_.end() || found->is_null() ? nullptr : &*found;
  }
  bool flag(const char* key, bool otherwise) const {
    const Json* value = find(key);
    return value != nullptr && value->is_boolean() ? value->get<bool>() : otherwise;
  }
  // A whole number that fits an int; else `otherwise`.
  int integer(const char* key, int otherwise) const {
    const Json* value = find(key);
    if (value == nullptr || !value->is_number_integer()) return otherwise;
    const int64_t number = value->get<int64_t>();
    return number < 0 || number > kMost ? otherwise : static_cast<int>(number);
  }
  int first_integer(std::span<const char* const> keys, int otherwise) const {
    for (const char* key : keys) {
      if (const int value = integer(key, -1); value >= 0) return value;
    }
    return otherwise;
  }
  Result<int> needed(std::span<const char* const> keys) const {
    if (const int value = first_integer(keys, -1); value >= 0) return value;
    return fail(ErrorCode::kCorruptData, format("config.json has no usable {}", keys[0]));
  }

  Status read_type() {
    const Json* name = find("model_type");
    if (name == nullptr || !name->is_string())
      return fail(ErrorCode::kCorruptData, "config.json has no model_type");
    facts_.architecture = name->get<std::string>();
    for (const ModelType& type : kModelTypes) {
      if (type.name == facts_.architecture) type_ = &type;
    }
    const Json defaults = Json::parse(type_->defaults);  // ours: they parse
    for (const auto& [key, value] : defaults.items()) {
      if (find(key.c_str()) == nullptr) config_[key] = value;
    }
    return {};
  }

  Status read_sizes() {
    PAGODA_ASSIGN(facts_.layers, needed(kLayers));
    if (facts_.layers > kMostLayers)
      return fail(ErrorCode::kCorruptData, format("config.json tells of {} layers", facts_.layers));
    PAGODA_ASSIGN(facts_.hidden, needed(kHidden));
    PAGODA_ASSIGN(facts_.heads, needed(kHeads));
    PAGODA_ASSIGN(facts_.context, needed(kContext));
    PAGODA_ASSIGN(facts_.vocabulary, needed(kVocabulary));
    const bool four_times = facts_.architecture == "gpt2";
    facts_.ffn = first_integer(kFfn, four_times ? 4 * facts_.hidden : 0);
    return {};
  }

  void read_heads() {
    facts_.kv_heads = integer("num_key_value_heads", facts_.heads);
    facts_.head_dim = integer("head_dim", facts_.heads > 0 ? facts_.hidden / facts_.heads : 0);
  }

  void read_experts() {
    ExpertFacts& experts = facts_.experts;
    experts.count = first_integer(kExperts, 0);
    if (experts.count == 0) return;
    experts.per_token = first_integer(kExpertsUsed, 0);
    experts.ffn = integer("moe_intermediate_size", facts_.ffn);
    experts.shared_ffn = integer("shared_expert_intermediate_size", 0);
    if (experts.shared_ffn == 0)
      experts.shared_ffn =
          static_cast<int>(std::min(int64_t{integer("n_shared_experts", 0)} * experts.ffn, kMost));
    experts.dense_layers = std::min(integer("first_k_dense_replace", 0), facts_.layers);
  }

  void read_latent() {
    LatentFacts& latent = facts_.latent;
    latent.kv_rank = integer("kv_lora_rank", 0);
    if (latent.kv_rank == 0) return;
    latent.query_rank = integer("q_lora_rank", 0);
    latent.rope_dim = integer("qk_rope_head_dim", 64);
    latent.nope_dim = integer("qk_nope_head_dim", 128);
    latent.value_dim = integer("v_head_dim", 128);
  }

  Status read_reach() {
    facts_.reach.assign(static_cast<size_t>(facts_.layers), LayerReach::kFull);
    const bool off = config_.value("use_sliding_window", Json()) == false || facts_.architecture == "llama";
    facts_.window = off ? 0 : integer("sliding_window", 0);
    if (const Json* types = find("layer_types"); types != nullptr && types->is_array())
      return read_layer_types(*types);
    if (const int interval = integer("full_attention_interval", 0); interval > 0) {
      for (int layer = 0; layer < facts_.layers; ++layer) {
        if ((layer + 1) % interval != 0) facts_.reach[static_cast<size_t>(layer)] = LayerReach::kState;
      }
      read_state();
    }
    if (facts_.window == 0) return {};
    const int from = facts_.architecture.starts_with("qwen") ? integer("max_window_layers", 0) : 0;
    int period = type_->window_period;
    for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern"})
      period = integer(key, period);
    for (int layer = from; layer < facts_.layers; ++layer) {
      if (period == 0 || layer % period < period - 1)
        facts_.reach[static_cast<size_t>(layer)] = LayerReach::kWindowed;
    }
    return {};
  }

  Status read_layer_types(const Json& types) {
    if (types.size() != facts_.reach.size())
      return fail(ErrorCode::kCorruptData, format("config.json: layer_types has {} entries for {} layers",
                                                  types.size(), facts_.layers));
    for (size_t layer = 0; layer < types.size(); ++layer) {
      if (types[layer] == "sliding_attention" && facts_.window > 0)
        facts_.reach[layer] = LayerReach::kWindowed;
      if (types[layer] == "linear_attention" || types[layer] == "mamba")
        facts_.reach[layer] = LayerReach::kState;
    }
    read_state();
    return {};
  }

  // The state of gated linear attention: one matrix per value head and layer, in f32.
  void read_state() {
    const auto layers = std::count(facts_.reach.begin(), facts_.reach.end(), LayerReach::kState);
    facts_.state_bytes =
        saturating_product(int64_t{4} * layers * integer("linear_num_value_heads", 0),
                           int64_t{integer("linear_key_head_dim", 0)} * integer("linear_value_head_dim", 0));
  }

  // Bits per weight of codes in groups that share a 16-bit scale and a zero point.
  static double bits_in_groups(int bits, int group) {
    return group > 0 ? bits + (16.0 + bits) / group : bits;
  }

  void read_scheme() {
    for (const char* key : {"dtype", "torch_dtype"}) {
      const Json* dtype = find(key);
      if (dtype == nullptr) continue;
      if (*dtype == "float32") facts_.scheme = *find_weight_scheme("fp32");
      if (*dtype == "float16") facts_.scheme = *find_weight_scheme("fp16");
    }
    const Json* quantised = find("quantization_config");
    if (quantised == nullptr || !quantised->is_object()) return;
    const Json method = quantised->value("quant_method", Json());
    if (!method.is_string()) return;
    choose_scheme(method.get<std::string>(), *quantised);
  }

  void choose_scheme(const std::string& method, const Json& settings) {
    const auto number = [](const Json& object, const char* key, int otherwise) {
      const Json value = object.value(key, Json());
      return value.is_number_integer() ? value.get<int>() : otherwise;
    };
    std::string name = method;
    int bits = number(settings, "bits", 4);
    int group = number(settings, "group_size", 128);
    if (method == "gptq" && bits == 8) name = "gptq-8bit";
    if (method == "bitsandbytes" && settings.value("load_in_8bit", Json()) == true)
      name = "bitsandbytes-int8";
    if (method == "compressed-tensors") {
      bits = 8;
      const Json groups = settings.value("config_groups", Json::object());
      if (groups.is_object() && !groups.empty() && groups.begin()->is_object()) {
        const Json weights = groups.begin()->value("weights", Json::object());
        bits = weights.is_object() ? number(weights, "num_bits", 8) : 8;
        group = weights.is_object() ? number(weights, "group_size", 0) : 0;
      }
      name = bits == 4 ? "compressed-tensors-w4a16" : "compressed-tensors-w8a8";
    }
    const WeightScheme* scheme = find_weight_scheme(name);
    if (scheme == nullptr) return;
    facts_.scheme = *scheme;
    if ((method == "awq" || method == "gptq") && bits > 0 && bits <= 16)
      facts_.scheme.linear_bits = facts_.scheme.attention_bits = bits_in_groups(bits, group);
  }

  Json config_;
  const ModelType* type_ = &kOtherType;
  ModelFacts facts_;
};

}  // namespace

Result<ModelFacts> facts_of_config_json(const Json& config) {
  if (!config.is_object()) return fail(ErrorCode::kCorruptData, "config.json is no JSON object");
  // A model that also sees images keeps its language part apart.
  const auto text = config.find("text_config");
  if (text == config.end() || !text->is_object()) return FactReader(config).read();
  Json language = *text;
  for (const char* key : {"quantization_config", "dtype", "torch_dtype"}) {
    if (!language.contains(key) && config.contains(key)) language[key] = config[key];
  }
  if (!language.contains("model_type")) language["model_type"] = config.value("model_type", Json());
  return FactReader(std::move(language)).read();
}

Result<ModelFacts> facts_of_config_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::kNotFound, format("{}: no such file", path));
  const Json config = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (config.is_discarded()) return fail(ErrorCode::kCorruptData, format("{}: no valid JSON", path));
  auto facts = facts_of_config_json(config);
  if (facts) return facts;
  Error error = std::move(facts).error();
  error.message = format("{}: {}", path, error.message);
  return Unexpected(std::move(error));
}

}  // namespace pagoda::model
