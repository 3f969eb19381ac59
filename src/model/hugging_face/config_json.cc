#include "model/hugging_face/config_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/format.h"
#include "model/hugging_face/encoder_folder.h"

namespace pagoda::model {
namespace {

using Json = nlohmann::json;

struct ModelType {
  std::string_view name;          // config.json's model_type
  std::string_view architecture;  // general.architecture
  std::string_view activation;    // the only one that its feed-forward knows
};
constexpr ModelType kModelTypes[] = {
    {"llama", "llama", "silu"},
    {"mistral", "llama", "silu"},
    {"qwen2", "qwen2", "silu"},
    {"qwen3", "qwen3", "silu"},
    {"gemma3_text", "gemma3", "gelu_pytorch_tanh"},
    {"gemma3", "gemma3", "gelu_pytorch_tanh"},
};

// Keys that are copied as they are; the ones that GGUF wants and the file lacks are named by read_config.
struct KeyPair {
  std::string_view json, gguf;
};
constexpr KeyPair kIntegers[] = {
    {"num_hidden_layers", "block_count"},
    {"hidden_size", "embedding_length"},
    {"intermediate_size", "feed_forward_length"},
    {"max_position_embeddings", "context_length"},
    {"num_attention_heads", "attention.head_count"},
    {"num_key_value_heads", "attention.head_count_kv"},
    {"head_dim", "attention.key_length"},
    {"head_dim", "attention.value_length"},
    {"vocab_size", "vocab_size"},
};

// What would change the answer and that nothing here carries out, beside its harmless values.
struct Neutral {
  std::string_view key;
  Json value;
};
const Neutral kNeutral[] = {
    {"mlp_bias", false},
    {"attn_logit_softcapping", nullptr},
    {"final_logit_softcapping", nullptr},
    {"use_bidirectional_attention", false},
    {"partial_rotary_factor", 1.0},
};

class Translation {
 public:
  Translation(const Json& config, TextStore& texts, WeightMetadata& metadata)
      : config_(config), texts_(texts), metadata_(metadata) {}

  Result<HuggingFaceConfig> run() {
    PAGODA_TRY(choose_type());
    PAGODA_TRY(refuse_unknown_arithmetic());
    copy_sizes();
    if (type_->architecture == "llama" || type_->architecture == "gemma3")
      set("rope.style", texts_.keep("halves"));
    PAGODA_TRY(translate_rope());
    translate_window();
    if (type_->architecture == "gemma3") PAGODA_TRY(translate_gemma());
    return std::move(result_);
  }

 private:
  bool has(std::string_view key) const { return config_.contains(key) && !config_[key].is_null(); }
  void set(std::string_view suffix, WeightMetadata::Value value) {
    metadata_.set(format("{}.{}", type_->architecture, suffix), std::move(value));
  }

  Status choose_type() {
    const Json name = config_.value("model_type", Json());
    if (!name.is_string()) return fail(ErrorCode::kCorruptData, "config.json has no model_type");
    std::string known;
    for (const ModelType& type : kModelTypes) {
      if (type.name == name.get<std::string>()) type_ = &type;
      known += format("{}{}", known.empty() ? "" : ", ", type.name);
    }
    if (type_ == nullptr)
      return fail(ErrorCode::kUnsupported,
                  format("config.json: the model_type '{}' is not supported; supported are {}",
                         name.get<std::string>(), known));
    result_.architecture = type_->architecture;
    result_.norms_store_offset = type_->architecture == "gemma3";
    metadata_.set("general.architecture", texts_.keep(result_.architecture));
    return {};
  }

  Status refuse_unknown_arithmetic() const {
    const auto refuse = [](std::string_view key, const Json& value) {
      return fail(ErrorCode::kUnsupported,
                  format("config.json: {} is {}, which is not supported", key, value.dump()));
    };
    for (const Neutral& neutral : kNeutral) {
      if (has(neutral.key) && config_[neutral.key] != neutral.value)
        return refuse(neutral.key, config_[neutral.key]);
    }
    if (type_->architecture != "qwen2" && has("attention_bias") && config_["attention_bias"] != false)
      return refuse("attention_bias", config_["attention_bias"]);
    for (const char* key : {"hidden_act", "hidden_activation"}) {
      if (has(key) && config_[key] != type_->activation) return refuse(key, config_[key]);
    }
    return {};
  }

  void copy_sizes() {
    for (const KeyPair& pair : kIntegers) {
      if (has(pair.json) && config_[pair.json].is_number_integer())
        set(pair.gguf, config_[pair.json].get<int64_t>());
    }
    if (has("rms_norm_eps") && config_["rms_norm_eps"].is_number())
      set("attention.layer_norm_rms_epsilon", config_["rms_norm_eps"].get<double>());
  }

  // Older files keep rope_theta and rope_scaling apart, newer ones rope_parameters, which may differ between
  // kinds of layers.
  Json rope_parameters(std::string_view layer_type) const {
    Json rope = has("rope_parameters") ? config_["rope_parameters"] : Json::object();
    if (rope.contains(layer_type)) rope = rope[layer_type];
    if (has("rope_scaling")) rope.update(config_["rope_scaling"]);
    if (!rope.contains("rope_theta") && has("rope_theta")) rope["rope_theta"] = config_["rope_theta"];
    if (!rope.contains("rope_type")) rope["rope_type"] = rope.value("type", "default");
    return rope;
  }

  static double number(const Json& object, const char* key, double otherwise) {
    return object.contains(key) && object[key].is_number() ? object[key].get<double>() : otherwise;
  }

  Status translate_rope() {
    const Json rope = rope_parameters("full_attention");
    const std::string type = rope["rope_type"].is_string() ? rope["rope_type"].get<std::string>() : "";
    const double theta = number(rope, "rope_theta", 10000);
    set("rope.freq_base", theta);
    if (type == "default") return {};
    if (type == "linear") {
      set("rope.scaling.type", texts_.keep("linear"));
      set("rope.scaling.factor", number(rope, "factor", 1));
      return {};
    }
    if (type == "llama3") return divide_like_llama3(rope, theta);
    return fail(ErrorCode::kUnsupported, format("config.json: rope scaling of the type '{}' is not supported "
                                                "yet; supported are linear and llama3",
                                                type));
  }

  // Llama 3.1's scaling: long waves are stretched by the factor, short ones stay, between them it is blended.
  Status divide_like_llama3(const Json& rope, double theta) {
    const double factor = number(rope, "factor", 0), low = number(rope, "low_freq_factor", 0),
                 high = number(rope, "high_freq_factor", 0),
                 original = number(rope, "original_max_position_embeddings", 0);
    const int64_t heads = config_.value("num_attention_heads", 0), hidden = config_.value("hidden_size", 0);
    const int64_t dims = has("head_dim") ? config_.value("head_dim", 0) : heads > 0 ? hidden / heads : 0;
    if (factor <= 0 || low <= 0 || high <= low || original <= 0 || dims <= 0)
      return fail(ErrorCode::kCorruptData, "config.json: the rope scaling of the type llama3 lacks a factor");
    for (int64_t pair = 0; pair < dims / 2; ++pair) {
      const double wave =
          2 * std::numbers::pi * std::pow(theta, 2.0 * static_cast<double>(pair) / static_cast<double>(dims));
      const double blend = std::clamp((original / wave - low) / (high - low), 0.0, 1.0);
      result_.rope_divisors.push_back(static_cast<float>(1 / ((1 - blend) / factor + blend)));
    }
    return {};
  }

  void translate_window() {
    const bool off = config_.contains("use_sliding_window") && config_["use_sliding_window"] == false;
    if (off || !has("sliding_window") || !config_["sliding_window"].is_number_integer()) return;
    if (type_->name == "llama") return;  // the key means nothing there
    set("attention.sliding_window", config_["sliding_window"].get<int64_t>());
    if (has("layer_types") && config_["layer_types"].is_array()) {
      std::vector<bool> windowed;
      for (const Json& layer : config_["layer_types"]) windowed.push_back(layer == "sliding_attention");
      set("attention.sliding_window_pattern", std::move(windowed));
    } else if (has("sliding_window_pattern") && config_["sliding_window_pattern"].is_number_integer()) {
      set("attention.sliding_window_pattern", config_["sliding_window_pattern"].get<int64_t>());
    } else if (has("max_window_layers") && config_["max_window_layers"].is_number_integer()) {
      std::vector<bool> windowed;
      for (int64_t layer = 0; layer < config_.value("num_hidden_layers", int64_t{0}); ++layer)
        windowed.push_back(layer >= config_["max_window_layers"].get<int64_t>());
      set("attention.sliding_window_pattern", std::move(windowed));
    }
  }

  Status translate_gemma() {
    const Json local = has("rope_parameters") ? rope_parameters("sliding_attention") : Json::object();
    set("rope.freq_base_swa", local.contains("rope_theta") ? number(local, "rope_theta", 10000)
                                                           : number(config_, "rope_local_base_freq", 10000));
    if (has("query_pre_attn_scalar"))
      set("attention.query_pre_attn_scalar", number(config_, "query_pre_attn_scalar", 0));
    return {};
  }

  const Json& config_;
  TextStore& texts_;
  WeightMetadata& metadata_;
  const ModelType* type_ = nullptr;
  HuggingFaceConfig result_;
};

}  // namespace

Result<HuggingFaceConfig> read_config_json(const Json& config, TextStore& texts, WeightMetadata& metadata) {
  if (!config.is_object()) return fail(ErrorCode::kCorruptData, "config.json is no JSON object");
  if (is_encoder_config(config)) {
    PAGODA_TRY(read_encoder_config_json(config, texts, metadata));
    HuggingFaceConfig encoder;
    encoder.architecture = "bert";
    return encoder;
  }
  // A model that also sees images keeps its language part apart.
  if (config.contains("text_config") && config["text_config"].is_object()) {
    Json text = config["text_config"];
    if (!text.contains("model_type")) text["model_type"] = config.value("model_type", Json());
    return Translation(text, texts, metadata).run();
  }
  return Translation(config, texts, metadata).run();
}

}  // namespace pagoda::model
