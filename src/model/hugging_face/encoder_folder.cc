#include "model/hugging_face/encoder_folder.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "base/atomic_file.h"
#include "base/format.h"

namespace pagoda::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct KeyPair {
  const char *json, *gguf;
};
constexpr KeyPair kIntegers[] = {
    {"num_hidden_layers", "bert.block_count"},
    {"hidden_size", "bert.embedding_length"},
    {"intermediate_size", "bert.feed_forward_length"},
    {"num_attention_heads", "bert.attention.head_count"},
    {"max_position_embeddings", "bert.context_length"},
    {"vocab_size", "bert.vocab_size"},
    {"type_vocab_size", "tokenizer.ggml.token_type_count"},
};

struct NamePair {
  std::string_view hugging_face, gguf;
};
constexpr NamePair kOutside[] = {
    {"embeddings.word_embeddings.weight", "token_embd.weight"},
    {"embeddings.position_embeddings.weight", "position_embd.weight"},
    {"embeddings.token_type_embeddings.weight", "token_types.weight"},
    {"embeddings.LayerNorm.weight", "token_embd_norm.weight"},
    {"embeddings.LayerNorm.bias", "token_embd_norm.bias"},
    {"pooler.dense.weight", "cls.weight"},
    {"pooler.dense.bias", "cls.bias"},
    {"classifier.weight", "cls.output.weight"},
    {"classifier.bias", "cls.output.bias"},
    // RoBERTa's head
    {"classifier.dense.weight", "cls.weight"},
    {"classifier.dense.bias", "cls.bias"},
    {"classifier.out_proj.weight", "cls.output.weight"},
    {"classifier.out_proj.bias", "cls.output.bias"},
};
constexpr NamePair kInLayer[] = {
    {"attention.self.query", "attn_q"},
    {"attention.self.key", "attn_k"},
    {"attention.self.value", "attn_v"},
    {"attention.output.dense", "attn_output"},
    {"attention.output.LayerNorm", "attn_output_norm"},
    {"intermediate.dense", "ffn_up"},
    {"output.dense", "ffn_down"},
    {"output.LayerNorm", "layer_output_norm"},
};

std::string_view look_up(std::span<const NamePair> table, std::string_view name) {
  for (const NamePair& pair : table) {
    if (pair.hugging_face == name) return pair.gguf;
  }
  return {};
}

std::string text_of(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string()
             ? object[key].get<std::string>()
             : "";
}

bool is_set(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key] == true;
}

// Null where there is no such file.
Result<Json> read_json(const fs::path& path) {
  const auto text = read_whole_file(path.string());
  if (!text && text.error().code == ErrorCode::kNotFound) return Json();
  if (!text) return Unexpected(text.error());
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return fail(ErrorCode::kCorruptData, format("{}: no valid JSON", path.string()));
  return json;
}

Unexpected unsupported(std::string_view key, const Json& value) {
  return fail(ErrorCode::kUnsupported,
              format("config.json: {} is {}, which is not supported", key, value.dump()));
}

// How many labels the classifier tells apart; 0: the model has none.
int64_t labels_of(const Json& config) {
  const Json names = config.value("architectures", Json::array());
  bool classifies = false;
  for (const Json& name : names) {
    if (name.is_string() && name.get<std::string>().ends_with("ForSequenceClassification")) classifies = true;
  }
  if (!classifies) return 0;
  if (config.contains("id2label") && config["id2label"].is_object())
    return static_cast<int64_t>(config["id2label"].size());
  return config.contains("num_labels") && config["num_labels"].is_number_integer()
             ? config["num_labels"].get<int64_t>()
             : 2;
}

Status read_pooling(const Json& pooling, const std::string& path, WeightMetadata& metadata) {
  struct Mode {
    const char* key;
    int64_t gguf;
  };
  constexpr Mode kModes[] = {
      {"pooling_mode_mean_tokens", 1}, {"pooling_mode_cls_token", 2}, {"pooling_mode_lasttoken", 3}};
  int64_t chosen = 0;
  int modes = 0;
  for (const auto& [key, value] : pooling.items()) modes += key.starts_with("pooling_mode_") && value == true;
  for (const Mode& mode : kModes) {
    if (is_set(pooling, mode.key)) chosen = mode.gguf;
  }
  // Newer files name it.
  const std::string name = text_of(pooling, "pooling_mode");
  if (!name.empty()) chosen = name == "mean" ? 1 : name == "cls" ? 2 : name == "lasttoken" ? 3 : 0;
  if (chosen == 0 || modes > 1)
    return fail(ErrorCode::kUnsupported,
                format("{}: only one of mean, cls and last token pooling is supported", path));
  metadata.set("bert.pooling_type", chosen);
  return {};
}

}  // namespace

bool is_encoder_config(const Json& config) {
  const std::string type = text_of(config, "model_type");
  return type == "bert" || type == "roberta" || type == "xlm-roberta";
}

Status read_encoder_config_json(const Json& config, TextStore& texts, WeightMetadata& metadata) {
  if (is_set(config, "is_decoder")) return unsupported("is_decoder", config["is_decoder"]);
  const std::string positions = text_of(config, "position_embedding_type");
  if (!positions.empty() && positions != "absolute")
    return unsupported("position_embedding_type", config["position_embedding_type"]);
  metadata.set("general.architecture", std::string_view("bert"));
  for (const KeyPair& pair : kIntegers) {
    if (config.contains(pair.json) && config[pair.json].is_number_integer())
      metadata.set(pair.gguf, config[pair.json].get<int64_t>());
  }
  if (config.contains("layer_norm_eps") && config["layer_norm_eps"].is_number())
    metadata.set("bert.attention.layer_norm_epsilon", config["layer_norm_eps"].get<double>());
  if (const std::string activation = text_of(config, "hidden_act"); !activation.empty())
    metadata.set("bert.activation", texts.keep(activation));
  // RoBERTa's positions begin behind that of its padding.
  if (text_of(config, "model_type") != "bert") {
    const int64_t padding = config.contains("pad_token_id") && config["pad_token_id"].is_number_integer()
                                ? config["pad_token_id"].get<int64_t>()
                                : 1;
    metadata.set("bert.position_offset", padding + 1);
  }
  if (const int64_t labels = labels_of(config); labels > 0) metadata.set("bert.labels", labels);
  // The first token's state is what these models were trained to sum a text up in.
  metadata.set("bert.pooling_type", int64_t{2});
  const bool shrinks = is_set(config, "is_matryoshka") || (config.contains("matryoshka_dimensions") &&
                                                           config["matryoshka_dimensions"].is_array());
  metadata.set("bert.takes_fewer_dimensions", shrinks);
  return {};
}

Status read_sentence_modules(const std::string& folder, WeightMetadata& metadata) {
  PAGODA_ASSIGN(const Json modules, read_json(fs::path(folder) / "modules.json"));
  if (modules.is_null()) return {};
  for (const Json& module : modules) {
    const std::string type = text_of(module, "type");
    const std::string path = text_of(module, "path");
    const std::string kind = type.substr(type.rfind('.') + 1);
    if (path.find("..") != std::string::npos || path.starts_with('/'))
      return fail(ErrorCode::kCorruptData, format("{}: modules.json leads outside of the folder", folder));
    if (kind == "Pooling") {
      PAGODA_ASSIGN(const Json pooling, read_json(fs::path(folder) / path / "config.json"));
      PAGODA_TRY(read_pooling(pooling, (fs::path(folder) / path / "config.json").string(), metadata));
    } else if (kind == "Normalize") {
      metadata.set("bert.normalizes", true);
    } else if (kind != "Transformer") {
      return fail(ErrorCode::kUnsupported,
                  format("{}: the module {} of modules.json is not supported", folder, type));
    }
  }
  PAGODA_ASSIGN(const Json settings, read_json(fs::path(folder) / "sentence_bert_config.json"));
  if (settings.is_object() && settings.contains("max_seq_length") &&
      settings["max_seq_length"].is_number_integer())
    metadata.set("bert.max_sequence_length", settings["max_seq_length"].get<int64_t>());
  return {};
}

std::string encoder_tensor_name(std::string_view name) {
  for (const std::string_view prefix : {"bert.", "roberta."}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  constexpr std::string_view kLayers = "encoder.layer.";
  if (!name.starts_with(kLayers)) return std::string(look_up(kOutside, name));
  name.remove_prefix(kLayers.size());
  const size_t dot = name.find('.'), last = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || last <= dot ||
      name.substr(0, dot).find_first_not_of("0123456789") != std::string_view::npos)
    return {};
  const std::string_view inside = look_up(kInLayer, name.substr(dot + 1, last - dot - 1));
  return inside.empty() ? std::string()
                        : format("blk.{}.{}{}", name.substr(0, dot), inside, name.substr(last));
}

}  // namespace pagoda::model
