#include "app/model_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/machine.h"
#include "base/format.h"
#include "kernels/packed_matrix.h"
#include "model/encoder.h"
#include "model/footprint.h"
#include "text/tokenizer.h"

namespace pagoda::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr DType kKvDtype = DType::kBF16;

// What a tensor takes once it is packed: norms and biases are f32, matrices keep their codes.
int64_t packed_bytes(DType dtype, const Shape& shape) {
  if (shape.rank() < 2) return model::saturating_product(shape.elements(), sizeof(float));
  const int64_t columns = shape[shape.rank() - 1], rows = shape.elements() / std::max<int64_t>(columns, 1);
  const int64_t tiles = (rows + kernels::kTileRows - 1) / kernels::kTileRows;
  const size_t tile = kernels::native_format(dtype).tile_bytes(static_cast<int>(columns));
  return model::saturating_product(tiles, static_cast<int64_t>(tile));
}

std::string tokenizer_kind(const model::WeightMetadata& metadata) {
  const std::string model(metadata.text("tokenizer.ggml.model").value_or("none"));
  if (const auto json = metadata.text("tokenizer.pagoda.json")) {
    const auto file = nlohmann::json::parse(*json, nullptr, false);
    if (file.is_object() && file.contains("model") && file["model"].is_object())
      return file["model"].value("type", "BPE");
  }
  const auto pre = metadata.text("tokenizer.ggml.pre");
  return pre && *pre != model ? format("{} ({})", model, *pre) : model;
}

void read_tokenizer(const model::WeightMetadata& metadata, ModelFacts& facts) {
  const auto tokenizer = text::load_tokenizer(metadata);
  if (!tokenizer) {
    facts.tokenizer_fault = tokenizer.error().message;
    return;
  }
  const auto piece = [&](int32_t token) {
    return token < 0 ? std::string() : std::string((*tokenizer)->piece(token));
  };
  facts.tokenizer.kind = tokenizer_kind(metadata);
  facts.tokenizer.tokens = (*tokenizer)->size();
  facts.tokenizer.bos = piece((*tokenizer)->bos());
  facts.tokenizer.eos = piece((*tokenizer)->eos());
  facts.tokenizer.adds_bos = (*tokenizer)->adds_bos();
  for (const int32_t token : (*tokenizer)->end_tokens()) facts.tokenizer.end_tokens.push_back(piece(token));
}

void count_tensors(const model::WeightSource& source, ModelFacts& facts) {
  source.for_each([&](const std::string&, const TensorView& tensor) {
    DtypeShare& share = facts.dtypes[std::string(info_of(tensor.dtype).name)];
    const int64_t elements = tensor.shape.elements();
    ++share.tensors;
    share.parameters += elements;
    share.bytes += static_cast<int64_t>(bytes_of(tensor.dtype, static_cast<size_t>(elements)));
    facts.parameters += elements;
  });
  for (const auto& [name, share] : facts.dtypes) facts.bytes += share.bytes;
}

Status read_config_and_memory(const model::WeightSource& source, ModelFacts& facts) {
  facts.memory.weights = model::weight_bytes(source, packed_bytes);
  if (model::is_encoder(source.metadata())) {
    PAGODA_ASSIGN(facts.encoder, model::read_encoder_config(source.metadata()));
    facts.name = facts.encoder->name;
    facts.memory.activations = model::encoder_activation_bytes(*facts.encoder, kStepTokens);
    return {};
  }
  PAGODA_ASSIGN(facts.decoder, model::read_config(source.metadata()));
  facts.name = facts.decoder->name;
  const model::KvLayout layout = facts.decoder->kv_layout();
  facts.memory.activations = model::saturating_sum(model::activation_bytes(*facts.decoder, kStepTokens),
                                                   model::logit_bytes(*facts.decoder, 1));
  facts.memory.kv_per_token = model::kv_bytes_per_token(layout, kKvDtype);
  facts.memory.kv_of_full_context = model::kv_bytes_of_sequence(layout, kKvDtype, facts.decoder->context);
  return {};
}

// 134515008 → "134,515,008"
std::string grouped(int64_t number) {
  if (number < 1000) return std::to_string(number);
  return format("{},{:03}", grouped(number / 1000), number % 1000);
}

std::string short_count(int64_t number) {
  const auto value = static_cast<double>(number);
  if (value >= 1e9) return format("{:.2f} B", value / 1e9);
  return value >= 1e6 ? format("{:.1f} M", value / 1e6) : grouped(number);
}

std::string line(std::string_view label, std::string_view text) {
  return format("  {:<14} {}\n", label, text);
}

std::string architecture_text(const ModelFacts& facts) {
  if (facts.encoder) {
    const model::EncoderConfig& c = *facts.encoder;
    return format("{} encoder, {} layers, hidden {}, {} heads of {}, feed-forward {}", c.architecture,
                  c.layers, grouped(c.hidden), c.heads, c.head_dim, grouped(c.ffn));
  }
  const model::ModelConfig& c = *facts.decoder;
  std::string text = format("{}, {} layers, hidden {}, {} heads of {}", c.architecture, c.layers,
                            grouped(c.hidden), c.heads, c.head_dim);
  if (c.kv_heads != c.heads) text += format(" ({} of keys and values)", c.kv_heads);
  return text + format(", feed-forward {}", grouped(c.ffn));
}

std::string output_text(const model::EncoderConfig& config) {
  if (config.labels > 0)
    return format("scores of pairs, {} label{}", config.labels, config.labels == 1 ? "" : "s");
  const std::string_view pooling = config.pooling == model::Pooling::kMean    ? "the mean of all tokens"
                                   : config.pooling == model::Pooling::kFirst ? "the first token"
                                                                              : "the last token";
  return format("vectors of {}, {}{}", config.hidden, pooling, config.normalizes ? ", of length one" : "");
}

std::string context_text(const ModelFacts& facts) {
  if (facts.encoder) return format("{} tokens", grouped(facts.encoder->context));
  std::string text = format("{} tokens", grouped(facts.decoder->context));
  if (facts.decoder->window > 0) {
    int windowed = 0;
    for (const bool is : facts.decoder->layer_is_windowed) windowed += is;
    text += format("; {} of {} layers see the last {}", windowed, facts.decoder->layers,
                   grouped(facts.decoder->window));
  }
  return text;
}

std::string tokenizer_text(const ModelFacts& facts) {
  if (!facts.tokenizer_fault.empty()) return "cannot be used: " + facts.tokenizer_fault;
  std::string text = format("{}, {} tokens", facts.tokenizer.kind, grouped(facts.tokenizer.tokens));
  if (facts.tokenizer.adds_bos && !facts.tokenizer.bos.empty())
    text += ", begins with " + facts.tokenizer.bos;
  for (size_t i = 0; i < facts.tokenizer.end_tokens.size(); ++i)
    text += (i == 0 ? ", ends with " : " ") + facts.tokenizer.end_tokens[i];
  return text;
}

std::string memory_text(const ModelFacts& facts) {
  const MemoryFacts& memory = facts.memory;
  std::string text = format("weights {}, {} for a step of {} tokens", human_bytes(memory.weights),
                            human_bytes(memory.activations), kStepTokens);
  if (facts.decoder)
    text += format(", KV {} a token (bf16): {} for one sequence of {}", human_bytes(memory.kv_per_token),
                   human_bytes(memory.kv_of_full_context), grouped(facts.decoder->context));
  return text;
}

Json architecture_json(const ModelFacts& facts) {
  if (facts.encoder) {
    const model::EncoderConfig& c = *facts.encoder;
    return {{"kind", "encoder"},
            {"name", c.architecture},
            {"layers", c.layers},
            {"hidden", c.hidden},
            {"heads", c.heads},
            {"head_dim", c.head_dim},
            {"ffn", c.ffn},
            {"vocabulary", c.vocabulary},
            {"context", c.context},
            {"labels", c.labels},
            {"pooling", c.pooling == model::Pooling::kMean    ? "mean"
                        : c.pooling == model::Pooling::kFirst ? "first"
                                                              : "last"},
            {"normalizes", c.normalizes}};
  }
  const model::ModelConfig& c = *facts.decoder;
  return {{"kind", "decoder"},          {"name", c.architecture},
          {"layers", c.layers},         {"hidden", c.hidden},
          {"heads", c.heads},           {"kv_heads", c.kv_heads},
          {"head_dim", c.head_dim},     {"ffn", c.ffn},
          {"vocabulary", c.vocabulary}, {"context", c.context},
          {"rope_theta", c.rope_theta}, {"window", c.window}};
}

}  // namespace

Result<ModelFacts> read_model_facts(const std::string& path) {
  PAGODA_ASSIGN(const auto source, model::open_weights(path));
  ModelFacts facts;
  facts.path = source->path();
  facts.format = model::is_hugging_face_folder(path) ? "Hugging Face folder" : "GGUF";
  count_tensors(*source, facts);
  PAGODA_TRY(read_config_and_memory(*source, facts));
  read_tokenizer(source->metadata(), facts);
  const auto chat = source->metadata().text("tokenizer.chat_template").value_or("");
  facts.template_characters = static_cast<int64_t>(chat.size());
  facts.template_knows_tools = chat.find("tools") != std::string_view::npos;
  return facts;
}

std::string facts_text(const ModelFacts& facts) {
  std::string text = format("{}  {}\n", facts.name.empty() ? "(without a name)" : facts.name, facts.path);
  text += line("format", facts.format);
  text += line("architecture", architecture_text(facts));
  if (facts.encoder) text += line("gives", output_text(*facts.encoder));
  text += line("parameters", short_count(facts.parameters));
  std::string dtypes;
  for (const auto& [name, share] : facts.dtypes)
    dtypes += format("{}{} {} ({} tensors)", dtypes.empty() ? "" : ", ", name, human_bytes(share.bytes),
                     share.tensors);
  text += line("weights", format("{}: {}", human_bytes(facts.bytes), dtypes));
  text += line("context", context_text(facts));
  text += line("tokenizer", tokenizer_text(facts));
  text += line("chat template", facts.template_characters == 0
                                    ? std::string("none")
                                    : format("{} characters{}", grouped(facts.template_characters),
                                             facts.template_knows_tools ? ", knows tools" : ""));
  return text + line("memory", memory_text(facts));
}

Json facts_json(const ModelFacts& facts) {
  Json dtypes = Json::object();
  for (const auto& [name, share] : facts.dtypes)
    dtypes[name] = {{"tensors", share.tensors}, {"parameters", share.parameters}, {"bytes", share.bytes}};
  Json tokenizer = nullptr;
  if (facts.tokenizer_fault.empty())
    tokenizer = {{"kind", facts.tokenizer.kind},
                 {"tokens", facts.tokenizer.tokens},
                 {"bos", facts.tokenizer.bos},
                 {"eos", facts.tokenizer.eos},
                 {"end_tokens", facts.tokenizer.end_tokens},
                 {"adds_bos", facts.tokenizer.adds_bos}};
  Json chat = nullptr;
  if (facts.template_characters > 0)
    chat = {{"characters", facts.template_characters}, {"knows_tools", facts.template_knows_tools}};
  Json json = {{"name", facts.name},
               {"path", facts.path},
               {"format", facts.format},
               {"architecture", architecture_json(facts)},
               {"parameters", facts.parameters},
               {"bytes", facts.bytes},
               {"dtypes", dtypes},
               {"tokenizer", tokenizer},
               {"chat_template", chat}};
  if (!facts.tokenizer_fault.empty()) json["tokenizer_fault"] = facts.tokenizer_fault;
  json["memory"] = {{"weights", facts.memory.weights},
                    {"activations", facts.memory.activations},
                    {"activations_tokens", kStepTokens},
                    {"kv_per_token", facts.memory.kv_per_token},
                    {"kv_of_full_context", facts.memory.kv_of_full_context}};
  return json;
}

}  // namespace pagoda::app
