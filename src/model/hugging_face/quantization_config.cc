#include "model/hugging_face/quantization_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::model {
namespace {

using Json = nlohmann::json;

struct Method {
  std::string_view name;
  QuantMethod method;
};
constexpr Method kMethods[] = {
    {"awq", QuantMethod::kAwq},
    {"gptq", QuantMethod::kGptq},
    {"fp8", QuantMethod::kFp8},
    {"compressed-tensors", QuantMethod::kCompressedTensors},
    {"bitsandbytes", QuantMethod::kBitsAndBytes},
};

// compressed-tensors' formats whose layouts are read.
constexpr std::string_view kCompressedFormats[] = {"pack-quantized",  "int-quantized", "float-quantized",
                                                   "naive-quantized", "dense",         "mixed-precision"};

Unexpected unsupported(std::string message) {
  return fail(ErrorCode::kUnsupported, "config.json: " + std::move(message));
}

class Reader {
 public:
  explicit Reader(const Json& config) : config_(config) {}

  Result<QuantizationConfig> read() {
    result_.name = text("quant_method", "");
    if (result_.name.empty()) result_.name = method_by_keys();
    const auto* known = std::find_if(std::begin(kMethods), std::end(kMethods),
                                     [&](const Method& method) { return method.name == result_.name; });
    if (known == std::end(kMethods))
      return unsupported(format("weights quantised by '{}' are not supported; supported are {}",
                                result_.name.empty() ? "an unnamed method" : result_.name,
                                known_quant_methods()));
    result_.method = known->method;
    result_.description = result_.name;
    PAGODA_TRY(read_method());
    return std::move(result_);
  }

 private:
  std::string text(const char* key, const char* otherwise) const {
    return config_.contains(key) && config_[key].is_string() ? config_[key].get<std::string>() : otherwise;
  }
  int number(std::initializer_list<const char*> keys, int otherwise) const {
    for (const char* key : keys) {
      if (config_.contains(key) && config_[key].is_number_integer()) return config_[key].get<int>();
    }
    return otherwise;
  }
  bool is_true(const char* key) const { return config_.contains(key) && config_[key] == true; }

  // Files of before quant_method was written.
  std::string method_by_keys() const {
    if (is_true("load_in_4bit") || is_true("load_in_8bit")) return "bitsandbytes";
    if (config_.contains("desc_act")) return "gptq";
    return config_.contains("zero_point") || config_.contains("q_group_size") ? "awq" : "";
  }

  Status read_method() {
    switch (result_.method) {
      case QuantMethod::kAwq:
        return read_awq();
      case QuantMethod::kGptq:
        return read_gptq();
      case QuantMethod::kFp8:
        return read_fp8();
      case QuantMethod::kCompressedTensors:
        return read_compressed();
      case QuantMethod::kBitsAndBytes:
        result_.description += is_true("load_in_8bit") ? ", 8 bit" : ", 4 bit";
        return {};
    }
    return {};
  }

  void describe_groups() {
    result_.description +=
        format(", {} bit, {}", result_.bits,
               result_.group > 0 ? format("groups of {}", result_.group) : "a scale per row");
  }

  Status check_group() const {
    if (result_.group == -1 || result_.group > 0) return {};
    return fail(ErrorCode::kCorruptData,
                format("config.json: quantization_config's group_size is {}", result_.group));
  }

  Status read_awq() {
    result_.bits = number({"bits", "w_bit"}, 4);
    result_.group = number({"group_size", "q_group_size"}, 128);
    const std::string version = text("version", "gemm");
    if (version != "gemm" && version != "GEMM")
      return unsupported(format("AWQ weights in the layout '{}' are not supported; gemm is", version));
    if (result_.bits != 4)
      return unsupported(format("AWQ weights of {} bits are not supported; 4 is", result_.bits));
    PAGODA_TRY(check_group());
    describe_groups();
    return {};
  }

  Status read_gptq() {
    result_.bits = number({"bits"}, 4);
    result_.group = number({"group_size"}, 128);
    const std::string layout = text("checkpoint_format", "gptq");
    if (layout != "gptq" && layout != "gptq_v2")
      return unsupported(
          format("GPTQ weights in the layout '{}' are not supported; gptq and gptq_v2 are", layout));
    if (result_.bits != 2 && result_.bits != 4 && result_.bits != 8)
      return unsupported(format("GPTQ weights of {} bits are not supported; 2, 4 and 8 are", result_.bits));
    result_.zeros_less_one = layout == "gptq";
    PAGODA_TRY(check_group());
    describe_groups();
    if (is_true("desc_act")) result_.description += ", act-order";
    return {};
  }

  Status read_blocks(const Json& sizes) {
    const bool right = sizes.is_array() && sizes.size() == 2 && sizes[0].is_number_integer() &&
                       sizes[1].is_number_integer() && sizes[0].get<int64_t>() > 0 &&
                       sizes[1].get<int64_t>() > 0 && sizes[0].get<int64_t>() < (1 << 20) &&
                       sizes[1].get<int64_t>() < (1 << 20);
    if (!right)
      return fail(ErrorCode::kCorruptData,
                  format("config.json: quantization_config's block sizes are {}", sizes.dump()));
    result_.block_rows = sizes[0].get<int>();
    result_.block_columns = sizes[1].get<int>();
    result_.description += format(", blocks of {} x {}", result_.block_rows, result_.block_columns);
    return {};
  }

  Status read_fp8() {
    const std::string kind = text("fmt", "e4m3");
    if (kind != "e4m3") return unsupported(format("fp8 weights of the kind '{}'; e4m3 is supported", kind));
    if (config_.contains("weight_block_size") && !config_["weight_block_size"].is_null())
      return read_blocks(config_["weight_block_size"]);
    return {};
  }

  Status read_compressed() {
    const std::string layout = text("format", "pack-quantized");
    if (std::find(std::begin(kCompressedFormats), std::end(kCompressedFormats), layout) ==
        std::end(kCompressedFormats))
      return unsupported(
          format("compressed-tensors in the format '{}' are not supported; pack-quantized, "
                 "int-quantized and float-quantized are",
                 layout));
    result_.description += ", " + layout;
    if (!config_.contains("config_groups") || !config_["config_groups"].is_object()) return {};
    for (const Json& group : config_["config_groups"]) {
      const Json weights = group.is_object() ? group.value("weights", Json()) : Json();
      if (!weights.is_object()) continue;
      if (weights.contains("num_bits") && weights["num_bits"].is_number_integer())
        result_.description += format(", {} bit", weights["num_bits"].get<int>());
      if (weights.contains("block_structure") && !weights["block_structure"].is_null())
        PAGODA_TRY(read_blocks(weights["block_structure"]));
    }
    return {};
  }

  const Json& config_;
  QuantizationConfig result_;
};

}  // namespace

std::string known_quant_methods() {
  std::string list;
  for (const Method& method : kMethods) list += format("{}{}", list.empty() ? "" : ", ", method.name);
  return list;
}

Result<std::optional<QuantizationConfig>> read_quantization_config(const Json& config) {
  Json quantization;
  for (const char* key : {"quantization_config", "compression_config"}) {
    if (config.contains(key) && !config[key].is_null() && quantization.is_null()) quantization = config[key];
  }
  if (quantization.is_null()) return std::optional<QuantizationConfig>();
  if (!quantization.is_object())
    return fail(ErrorCode::kCorruptData, "config.json: quantization_config is no object");
  PAGODA_ASSIGN(QuantizationConfig read, Reader(quantization).read());
  return std::optional(std::move(read));
}

}  // namespace pagoda::model
