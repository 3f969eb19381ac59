#include "quantize/folder_output.h"

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/thread_pool.h"
#include "kernels/dequantise.h"
#include "kernels/quantise.h"
#include "model/hugging_face/safetensors.h"
#include "model/hugging_face/tensor_names.h"
#include "quantize/layer_quantiser.h"
#include "quantize/packed_words.h"
#include "quantize/safetensors_writer.h"
#include "text/tokenizer.h"

namespace pagoda::quantize {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Unexpected wrong(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

bool is_plain(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

// The tensors of one shard with the bytes that were made for them.
class Shard {
 public:
  template <class T>
  void add(std::string name, std::string dtype, std::vector<int64_t> shape, std::vector<T> values) {
    auto& bytes = owned_.emplace_back(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    entries_.push_back({std::move(name), std::move(dtype), std::move(shape), bytes});
  }
  void copy(const std::string& name, const TensorView& view) {
    std::vector<int64_t> shape;
    for (int i = 0; i < view.shape.rank(); ++i) shape.push_back(view.shape[i]);
    const size_t bytes = bytes_of(view.dtype, static_cast<size_t>(view.shape.elements()));
    entries_.push_back({name, std::string(info_of(view.dtype).name), std::move(shape), {view.data, bytes}});
  }
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }

 private:
  std::deque<std::vector<std::byte>> owned_;
  std::vector<SafetensorsEntry> entries_;
};

class FolderWriter {
 public:
  FolderWriter(fs::path in, fs::path out, const FolderOptions& options, kernels::Compute& compute)
      : in_(std::move(in)), out_(std::move(out)), options_(options), compute_(compute) {}

  Status run(const ProgressSink& progress) {
    PAGODA_TRY(open());
    PAGODA_TRY(check_weights());
    if (options_.scheme != FolderScheme::kF8) PAGODA_TRY(begin_calibration());
    PAGODA_TRY(make_folder());
    Progress state{0, config_.layers, {}};
    for (int layer = 0; layer < config_.layers; ++layer) {
      state.at = format("layer {} of {}", layer + 1, config_.layers);
      if (progress) progress(state);
      PAGODA_TRY(write_layer(layer));
      source_->release_pages();
      ++state.done;
    }
    PAGODA_TRY(write_rest());
    PAGODA_TRY(write_texts());
    if (progress) progress(state);
    return {};
  }

 private:
  Status open() {
    if (!model::is_hugging_face_folder(in_.string()))
      return wrong(format("{}: awq, gptq and fp8 are read from a Hugging Face folder and written as one",
                          in_.string()));
    PAGODA_ASSIGN(source_, model::open_weights(in_.string()));
    PAGODA_ASSIGN(config_, model::read_config(source_->metadata()));
    if (const auto method = source_->metadata().text("quantization.method"))
      return wrong(format("{}: its weights are quantised by {} already; give the 16-bit folder", in_.string(),
                          *method));
    std::error_code error;
    for (fs::directory_iterator entry(in_, error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().extension() != ".safetensors") continue;
      PAGODA_ASSIGN(auto file, model::SafetensorsFile::open(entry->path().string()));
      files_.push_back(std::make_unique<model::SafetensorsFile>(std::move(file)));
      for (const auto& [name, view] : files_.back()->tensors()) tensors_.emplace(name, view);
    }
    return {};
  }

  // Before anything is computed: what cannot be packed is named.
  Status check_weights() const {
    for (const auto& [name, view] : tensors_) {
      if (!is_quantised_here(name)) continue;
      if (!is_plain(view.dtype) || view.shape.rank() != 2)
        return wrong(format("the tensor {} is of type {}, not a matrix of 16 or 32 bits", name,
                            info_of(view.dtype).name));
      if (options_.scheme == FolderScheme::kF8) continue;
      const int64_t group = options_.group_size > 0 ? options_.group_size : view.columns();
      if (view.columns() % group != 0 || view.columns() % 32 != 0)
        return wrong(
            format("--group-size {}: the tensor {} has {} columns, no multiple of it; 64, 32 and -1 "
                   "are others",
                   options_.group_size, name, view.columns()));
      if (view.rows() % 8 != 0)
        return wrong(format("the tensor {} has {} rows; words hold eight", name, view.rows()));
    }
    return {};
  }

  // Names inside a layer, "attn_q.weight"; empty for other tensors. `layer` is set.
  std::string inside_layer(const std::string& name, int& layer) const {
    const std::string gguf = model::gguf_name_of(name, config_.architecture);
    if (!gguf.starts_with("blk.")) return {};
    const size_t dot = gguf.find('.', 4);
    layer = std::atoi(gguf.c_str() + 4);
    return gguf.substr(dot + 1);
  }
  bool is_quantised_here(const std::string& name) const {
    int layer = 0;
    const std::string inside = inside_layer(name, layer);
    for (const LinearGroup& group : linear_groups()) {
      for (const std::string_view weight : group.weights) {
        if (inside == weight) return true;
      }
    }
    return false;
  }

  Status begin_calibration() {
    PAGODA_ASSIGN(const auto tokenizer, text::load_tokenizer(source_->metadata()));
    const std::vector<int32_t> tokens =
        tokenizer->encode(options_.calibration_text, {.parse_special = false});
    const auto wanted = static_cast<size_t>(options_.samples) * static_cast<size_t>(options_.sample_tokens);
    const size_t used = std::min(wanted, tokens.size());
    if (used < static_cast<size_t>(options_.sample_tokens))
      return wrong(format("--calibration: the text has {} tokens; at least {} are needed, {} are better",
                          tokens.size(), options_.sample_tokens, wanted));
    for (const int32_t token : tokens) {
      if (token < 0 || token >= config_.vocabulary)
        return wrong("--calibration: a token beyond the vocabulary");
    }
    calibration_ = std::make_unique<Calibration>(*source_, config_, std::span(tokens).first(used),
                                                 options_.sample_tokens, compute_);
    return {};
  }

  Status make_folder() const {
    std::error_code error;
    fs::create_directories(out_, error);
    if (error) return wrong(format("{}: cannot make the folder: {}", out_.string(), error.message()));
    if (!fs::is_empty(out_, error)) return wrong(format("{}: the folder is not empty", out_.string()));
    return {};
  }

  Status write_layer(int layer) {
    LayerSource one(*source_, config_, layer);
    QuantisedLayer quantised;
    if (calibration_) {
      PAGODA_ASSIGN(quantised, quantise_layer(one, config_, *calibration_, options_, compute_.pool()));
    }
    Shard shard;
    for (const auto& [name, view] : tensors_) {
      int at = -1;
      const std::string inside = inside_layer(name, at);
      if (inside.empty() || at != layer) continue;
      const std::string module = name.substr(0, name.rfind('.'));
      if (const auto weight = quantised.weights.find(inside); weight != quantised.weights.end()) {
        add_integers(module, weight->second, shard);
      } else if (const auto vector = quantised.vectors.find(inside); vector != quantised.vectors.end()) {
        add_vector(name, view, vector->second, shard);
      } else if (options_.scheme == FolderScheme::kF8 && is_quantised_here(name)) {
        add_f8(module, view, shard);
      } else {
        shard.copy(name, view);
      }
    }
    return write_shard(shard, layer + 1);
  }

  void add_integers(const std::string& module, const IntegerWeights& w, Shard& shard) const {
    const bool awq = options_.scheme == FolderScheme::kAwq;
    WordMatrix codes = awq ? awq_codes(w) : gptq_codes(w), zeros = awq ? awq_zeros(w) : gptq_zeros(w);
    shard.add(module + ".qweight", "I32", {codes.rows, codes.columns}, std::move(codes.words));
    shard.add(module + ".qzeros", "I32", {zeros.rows, zeros.columns}, std::move(zeros.words));
    shard.add(module + ".scales", "F16", {w.groups(), w.rows}, scales_by_group(w));
    if (awq) return;
    std::vector<int32_t> groups;
    for (int k = 0; k < w.columns; ++k) groups.push_back(k / w.group);
    shard.add(module + ".g_idx", "I32", {w.columns}, std::move(groups));
  }

  // Norms of Gemma are stored less one.
  void add_vector(const std::string& name, const TensorView& view, const std::vector<float>& values,
                  Shard& shard) const {
    const float offset = config_.architecture == "gemma3" && name.ends_with("norm.weight") ? 1.f : 0.f;
    std::vector<uint16_t> bits;
    std::vector<float> floats;
    for (const float value : values) {
      const float stored = value - offset;
      floats.push_back(stored);
      bits.push_back(view.dtype == DType::kF16 ? f32_to_f16(stored) : f32_to_bf16(stored));
    }
    const auto size = static_cast<int64_t>(values.size());
    if (view.dtype == DType::kF32) return shard.add(name, "F32", {size}, std::move(floats));
    shard.add(name, std::string(info_of(view.dtype).name), {size}, std::move(bits));
  }

  // One scale per row, as compressed-tensors' float-quantized has it.
  void add_f8(const std::string& module, const TensorView& view, Shard& shard) const {
    const auto columns = static_cast<size_t>(view.columns());
    std::vector<uint8_t> codes(static_cast<size_t>(view.rows()) * columns);
    std::vector<float> scales(static_cast<size_t>(view.rows()));
    compute_.pool().share(static_cast<int>(view.rows()), 16, [&](int first, int last) {
      std::vector<float> values(columns);
      for (int row = first; row < last; ++row) {
        kernels::dequantise_row(view.dtype, view.row(row), static_cast<int>(columns), values.data());
        const float scale = kernels::scale_for_f8(values);
        scales[static_cast<size_t>(row)] = scale;
        for (size_t k = 0; k < columns; ++k)
          codes[static_cast<size_t>(row) * columns + k] = f32_to_f8e4m3(values[k] / scale);
      }
    });
    shard.add(module + ".weight", "F8_E4M3", {view.rows(), view.columns()}, std::move(codes));
    shard.add(module + ".weight_scale", "F32", {view.rows(), 1}, std::move(scales));
  }

  Status write_rest() {
    Shard shard;
    for (const auto& [name, view] : tensors_) {
      int layer = -1;
      if (inside_layer(name, layer).empty()) shard.copy(name, view);
    }
    return write_shard(shard, config_.layers + 1);
  }

  Status write_shard(const Shard& shard, int number) {
    const std::string name = format("model-{:05}-of-{:05}.safetensors", number, config_.layers + 1);
    for (const SafetensorsEntry& entry : shard.entries()) {
      weight_map_[entry.name] = name;
      bytes_ += static_cast<int64_t>(entry.bytes.size());
    }
    return write_safetensors((out_ / name).string(), shard.entries());
  }

  Json quantization_config() const {
    if (options_.scheme == FolderScheme::kAwq)
      return {{"quant_method", "awq"}, {"bits", 4},         {"group_size", options_.group_size},
              {"zero_point", true},    {"version", "gemm"}, {"modules_to_not_convert", nullptr}};
    if (options_.scheme == FolderScheme::kGptq)
      return {{"quant_method", "gptq"},      {"bits", options_.bits}, {"group_size", options_.group_size},
              {"damp_percent", 0.01},        {"desc_act", false},     {"sym", true},
              {"checkpoint_format", "gptq"}, {"lm_head", false}};
    const auto arguments = [](const char* strategy, bool dynamic) {
      return Json{{"num_bits", 8},
                  {"type", "float"},
                  {"strategy", strategy},
                  {"symmetric", true},
                  {"dynamic", dynamic}};
    };
    const Json group = {{"targets", {"Linear"}},
                        {"weights", arguments("channel", false)},
                        {"input_activations", arguments("token", true)}};
    return {{"quant_method", "compressed-tensors"},
            {"format", "float-quantized"},
            {"quantization_status", "compressed"},
            {"ignore", {"lm_head"}},
            {"config_groups", {{"group_0", group}}}};
  }

  // The index, config.json with what was done, and every other file as it is.
  Status write_texts() const {
    const Json index = {{"metadata", {{"total_size", bytes_}}}, {"weight_map", weight_map_}};
    std::ofstream(out_ / "model.safetensors.index.json") << index.dump(1) << "\n";
    Json config = Json::parse(std::ifstream(in_ / "config.json"), nullptr, /*allow_exceptions=*/false);
    config["quantization_config"] = quantization_config();
    std::ofstream(out_ / "config.json") << config.dump(1) << "\n";
    std::error_code error;
    for (fs::directory_iterator entry(in_, error), end; !error && entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      const bool written = name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json") ||
                           name == "config.json" || !entry->is_regular_file(error);
      if (!written) fs::copy_file(entry->path(), out_ / name, error);
    }
    if (error) return wrong(format("{}: cannot write it: {}", out_.string(), error.message()));
    return {};
  }

  const fs::path in_, out_;
  const FolderOptions& options_;
  kernels::Compute& compute_;
  std::unique_ptr<model::WeightSource> source_;
  model::ModelConfig config_;
  std::vector<std::unique_ptr<model::SafetensorsFile>> files_;
  std::map<std::string, TensorView> tensors_;  // by Hugging Face's names
  std::unique_ptr<Calibration> calibration_;
  std::map<std::string, std::string> weight_map_;
  int64_t bytes_ = 0;
};

}  // namespace

Status write_folder(const std::string& in, const std::string& out, const FolderOptions& options,
                    kernels::Compute& compute, const ProgressSink& progress) {
  return FolderWriter(in, out, options, compute).run(progress);
}

}  // namespace pagoda::quantize
