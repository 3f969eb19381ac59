#include "model/hugging_face/folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "base/format.h"
#include "kernels/dequantise.h"
#include "model/hugging_face/encoder_folder.h"
#include "model/hugging_face/sentence_piece_model.h"
#include "model/hugging_face/shard_files.h"
#include "model/hugging_face/tensor_names.h"
#include "model/hugging_face/tokenizer_json.h"

namespace pagoda::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// nullopt when there is no such file.
std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// Null when there is no such file.
Result<Json> read_json(const fs::path& path) {
  const auto text = read_file(path);
  if (!text) return Json();
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return fail(ErrorCode::kCorruptData, format("{}: no valid JSON", path.string()));
  return json;
}

Result<Json> read_needed_json(const fs::path& path, std::string_view why) {
  PAGODA_ASSIGN(Json json, read_json(path));
  if (json.is_null()) return fail(ErrorCode::kNotFound, format("{} is missing: {}", path.string(), why));
  return json;
}

// A special token is a text, or an object with the text inside.
std::string token_text(const Json& token) {
  if (token.is_string()) return token.get<std::string>();
  if (token.is_object() && token.contains("content") && token["content"].is_string())
    return token["content"].get<std::string>();
  return {};
}

Status in_file(Status status, const fs::path& folder) {
  if (status) return status;
  Error error = std::move(status).error();
  error.message = format("{}: {}", folder.string(), error.message);
  return Unexpected(std::move(error));
}

}  // namespace

Result<std::unique_ptr<HuggingFaceFolder>> HuggingFaceFolder::open(const std::string& path) {
  std::unique_ptr<HuggingFaceFolder> folder(new HuggingFaceFolder(path));
  PAGODA_TRY(folder->read_texts());
  PAGODA_TRY(folder->open_shards());
  return folder;
}

Status HuggingFaceFolder::read_texts() {
  PAGODA_ASSIGN(const Json config,
                read_needed_json(fs::path(path_) / "config.json", "it names the architecture"));
  auto read = read_config_json(config, texts_, metadata_);
  if (!read) return in_file(Unexpected(std::move(read).error()), path_);
  config_ = std::move(*read);
  PAGODA_TRY(in_file(read_quantization(config), path_));
  if (config_.architecture == "bert") PAGODA_TRY(read_sentence_modules(path_, metadata_));
  const fs::path folder = fs::path(path_).lexically_normal();
  const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  metadata_.set("general.name", texts_.keep(name));
  PAGODA_TRY(read_tokenizer());
  return read_end_tokens(config);
}

// Checkpoints of before config.json said it have a file of its own.
Status HuggingFaceFolder::read_quantization(const Json& config) {
  PAGODA_ASSIGN(auto quantization, read_quantization_config(config));
  for (const char* name : {"quantize_config.json", "quant_config.json"}) {
    if (quantization) break;
    PAGODA_ASSIGN(const Json file, read_json(fs::path(path_) / name));
    if (file.is_null()) continue;
    PAGODA_ASSIGN(quantization, read_quantization_config({{"quantization_config", file}}));
  }
  if (!quantization) return {};
  metadata_.set("quantization.method", texts_.keep(quantization->name));
  metadata_.set("quantization.description", texts_.keep(quantization->description));
  quantised_.emplace(*quantization);
  return {};
}

Status HuggingFaceFolder::read_tokenizer() {
  const fs::path folder(path_);
  PAGODA_ASSIGN(const Json tokenizer, read_json(folder / "tokenizer.json"));
  PAGODA_ASSIGN(const Json settings, read_json(folder / "tokenizer_config.json"));
  const int64_t vocabulary = metadata_.integer(format("{}.vocab_size", config_.architecture)).value_or(0);
  if (tokenizer.is_null()) {
    const auto model = read_file(folder / "tokenizer.model");
    if (!model)
      return fail(ErrorCode::kNotFound,
                  format("{}: tokenizer.json is missing, and so is tokenizer.model: the "
                         "tokenizer is read from one of them",
                         folder.string()));
    PAGODA_TRY(in_file(read_sentence_piece_model(*model, vocabulary, texts_, metadata_), folder));
    // Llama's own tokenizer begins a text unless it is told not to.
    const bool llama = config_.architecture == "llama";
    metadata_.set("tokenizer.ggml.add_bos_token", settings.is_object() && settings.contains("add_bos_token")
                                                      ? settings["add_bos_token"] == true
                                                      : llama);
    metadata_.set("tokenizer.ggml.add_eos_token", settings.is_object() &&
                                                      settings.contains("add_eos_token") &&
                                                      settings["add_eos_token"] == true);
  } else {
    PAGODA_TRY(in_file(read_tokenizer_json(tokenizer, vocabulary, texts_, metadata_), folder));
  }
  const auto& tokens = *metadata_.texts("tokenizer.ggml.tokens");
  const std::pair<const char*, const char*> roles[] = {{"bos_token", "tokenizer.ggml.bos_token_id"},
                                                       {"eos_token", "tokenizer.ggml.eos_token_id"},
                                                       {"unk_token", "tokenizer.ggml.unknown_token_id"}};
  for (const auto& [role, key] : roles) {
    const std::string text =
        settings.is_object() && settings.contains(role) ? token_text(settings[role]) : "";
    const auto found = std::find(tokens.begin(), tokens.end(), text);
    if (!text.empty() && found != tokens.end()) metadata_.set(key, int64_t{found - tokens.begin()});
  }
  if (auto text = read_file(folder / "chat_template.jinja")) {
    metadata_.set("tokenizer.chat_template", texts_.keep(std::move(*text)));
  } else if (settings.is_object() && settings.contains("chat_template")) {
    Json chat = settings["chat_template"];
    if (chat.is_array()) {  // several by name
      for (const Json& named : settings["chat_template"]) {
        if (named.value("name", "") == "default") chat = named.value("template", Json());
      }
    }
    if (chat.is_string()) metadata_.set("tokenizer.chat_template", texts_.keep(chat.get<std::string>()));
  }
  return {};
}

// What ends an answer: generation_config.json has the last word, and may list several.
Status HuggingFaceFolder::read_end_tokens(const Json& config) {
  PAGODA_ASSIGN(const Json generation, read_json(fs::path(path_) / "generation_config.json"));
  std::vector<int64_t> ends;
  for (const Json* file : {&generation, &config}) {
    if (!file->is_object() || !file->contains("eos_token_id")) continue;
    const Json& eos = (*file)["eos_token_id"];
    for (const Json& id : eos.is_array() ? eos : Json::array({eos})) {
      if (id.is_number_integer()) ends.push_back(id.get<int64_t>());
    }
    if (!metadata_.has("tokenizer.ggml.bos_token_id") && file->contains("bos_token_id") &&
        (*file)["bos_token_id"].is_number_integer())
      metadata_.set("tokenizer.ggml.bos_token_id", (*file)["bos_token_id"].get<int64_t>());
  }
  if (!ends.empty() && !metadata_.has("tokenizer.ggml.eos_token_id"))
    metadata_.set("tokenizer.ggml.eos_token_id", ends.front());
  metadata_.set("tokenizer.ggml.eos_token_ids", std::move(ends));
  return {};
}

Status HuggingFaceFolder::open_shards() {
  const fs::path folder(path_);
  PAGODA_ASSIGN(const std::set<std::string> names, shard_names(path_));
  if (names.empty())
    return fail(ErrorCode::kNotFound,
                format("{}: no *.safetensors in the folder (PyTorch's .bin files are not read)", path_));
  for (const std::string& name : names) {
    auto shard = SafetensorsFile::open((folder / name).string());
    if (!shard && shard.error().code == ErrorCode::kNotFound)
      return fail(ErrorCode::kNotFound,
                  format("{}: the shard {} is missing; fetch the model again", path_, name));
    if (!shard) return Unexpected(std::move(shard).error());
    shards_.push_back(std::make_unique<SafetensorsFile>(std::move(*shard)));
    add_shard(*shards_.back());
  }
  PAGODA_TRY(in_file(add_quantised(), path_));
  if (!config_.rope_divisors.empty()) add_values("rope_freqs.weight", config_.rope_divisors);
  if (config_.norms_store_offset) finish_norms();
  return {};
}

void HuggingFaceFolder::add_shard(const SafetensorsFile& shard) {
  for (const auto& [name, view] : shard.tensors()) {
    if (quantised_ && quantised_->take(name, view)) continue;
    std::string gguf_name = gguf_name_of(name, config_.architecture);
    if (!gguf_name.empty()) tensors_.emplace(std::move(gguf_name), view);
  }
}

Status HuggingFaceFolder::add_quantised() {
  if (!quantised_) return {};
  PAGODA_ASSIGN(const auto weights, quantised_->assemble());
  for (const auto& [name, view] : weights) {
    std::string gguf_name = gguf_name_of(name, config_.architecture);
    if (!gguf_name.empty()) tensors_.emplace(std::move(gguf_name), view);
  }
  return {};
}

void HuggingFaceFolder::add_values(std::string name, std::vector<float> values) {
  values_.push_back(std::make_unique<std::vector<float>>(std::move(values)));
  const std::vector<float>& kept = *values_.back();
  tensors_.insert_or_assign(std::move(name),
                            TensorView{reinterpret_cast<const std::byte*>(kept.data()), DType::kF32,
                                       Shape{static_cast<int64_t>(kept.size())}});
}

// Norm weights are stored as what is added to one.
void HuggingFaceFolder::finish_norms() {
  std::vector<std::string> names;
  for (const auto& [name, view] : tensors_) {
    if (name.ends_with("norm.weight") && view.shape.rank() == 1) names.push_back(name);
  }
  for (const std::string& name : names) {
    const TensorView view = tensors_.at(name);
    std::vector<float> values(static_cast<size_t>(view.shape.elements()));
    kernels::dequantise_row(view.dtype, view.data, static_cast<int>(values.size()), values.data());
    for (float& value : values) value += 1.f;
    add_values(name, std::move(values));
  }
}

const TensorView* HuggingFaceFolder::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

void HuggingFaceFolder::for_each(
    const std::function<void(const std::string& name, const TensorView&)>& visit) const {
  for (const auto& [name, view] : tensors_) visit(name, view);
}

int64_t HuggingFaceFolder::tensor_bytes() const {
  int64_t sum = 0;
  for (const auto& [name, view] : tensors_)
    sum += static_cast<int64_t>(bytes_of(view.dtype, static_cast<size_t>(view.shape.elements())));
  return sum;
}

void HuggingFaceFolder::prefetch() const {
  for (const auto& shard : shards_) shard->prefetch();
}

void HuggingFaceFolder::release_pages() const {
  for (const auto& shard : shards_) shard->release_pages();
}

}  // namespace pagoda::model
