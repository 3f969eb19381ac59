// GGUF, versions 2 and 3, little-endian: the format's reader over bytes in memory. It trusts nothing: every
// count and length is checked against the bytes that are there before anything is allocated.
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/weight_metadata.h"
#include "tensor/tensor_view.h"

namespace pagoda::model {

struct GgufTensor {
  std::string name;
  TensorView view;  // points into the bytes that were parsed
};

struct GgufContents {
  uint32_t version = 0;
  WeightMetadata metadata;          // its strings point into the bytes that were parsed
  std::vector<GgufTensor> tensors;  // in the file's order; names are unique, byte ranges do not overlap
  size_t header_bytes = 0;          // everything before the tensors' data
};

// `name` stands in the errors. Fails with kCorruptData where the file breaks its own format and kUnsupported
// where it is sound but not for this reader (version 1, big-endian, an unknown tensor type).
Result<GgufContents> parse_gguf(std::span<const std::byte> file, std::string_view name);

}  // namespace pagoda::model
