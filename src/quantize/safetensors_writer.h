// A .safetensors file written whole. Format: https://github.com/huggingface/safetensors
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::quantize {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // as the format spells it: "F16", "I32", "F8_E4M3"
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  // of which it makes no copy
};

Status write_safetensors(const std::string& path, const std::vector<SafetensorsEntry>& entries);

}  // namespace pagoda::quantize
