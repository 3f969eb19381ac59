// Any bytes as a GGUF file: the reader, then the config from what it read, then every tensor's first and last
// byte, which must lie inside the file.
#include <cstddef>
#include <cstdint>

#include "model/gguf.h"
#include "model/model_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto contents = pagoda::model::parse_gguf({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (!contents) return 0;
  uint8_t sum = 0;
  for (const auto& tensor : contents->tensors) {
    const size_t bytes = tensor.view.row_bytes() * static_cast<size_t>(tensor.view.rows());
    sum = static_cast<uint8_t>(sum + static_cast<uint8_t>(tensor.view.data[0]));
    sum = static_cast<uint8_t>(sum + static_cast<uint8_t>(tensor.view.data[bytes - 1]));
  }
  if (const auto config = pagoda::model::read_config(contents->metadata)) {
    for (const auto& group : config->kv_layout())
      sum = static_cast<uint8_t>(sum + group.block_bytes(16, pagoda::DType::kBF16));
  }
  static volatile uint8_t sink;
  sink = sum;
  return 0;
}
