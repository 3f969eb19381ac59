// How config.json says that a checkpoint's weights are quantised: quantization_config, as the tools that
// quantise write it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/result.h"

namespace pagoda::model {

enum class QuantMethod { kAwq, kGptq, kFp8, kCompressedTensors, kBitsAndBytes };

struct QuantizationConfig {
  QuantMethod method = QuantMethod::kAwq;
  std::string name;         // quant_method: "awq"
  std::string description;  // for people: "awq, 4 bit, groups of 128"
  int bits = 4;             // of AWQ and GPTQ
  int group = -1;           // columns under one scale; -1: a row
  // GPTQ's first format stores zero points less one.
  bool zeros_less_one = false;
  int block_rows = 0, block_columns = 0;  // of E4M3's block scales; 0: none
};

// Nothing where the weights are not quantised. kUnsupported names the method, or what of it is not read, and
// lists what is.
Result<std::optional<QuantizationConfig>> read_quantization_config(const nlohmann::json& config);

// Every quant_method that is read, for messages: "awq, gptq, …".
std::string known_quant_methods();

}  // namespace pagoda::model
