// A GGUF file (version 3) written in one pass: header, metadata, tensor table, then the tensors' data in the
// table's order. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/weight_metadata.h"
#include "tensor/tensor_view.h"

namespace pagoda::quantize {

struct TensorToWrite {
  std::string name;
  DType dtype = DType::kF32;  // one that GGUF knows
  Shape shape;                // slowest dimension first
};

class GgufWriter {
 public:
  // Writes everything before the data, into PATH.part. Integers are stored as u32 and numbers as f32 where
  // they fit, as llama.cpp's loader asks; integers of arrays as i32.
  static Result<std::unique_ptr<GgufWriter>> create(const std::string& path,
                                                    const model::WeightMetadata& metadata,
                                                    const std::vector<TensorToWrite>& tensors);
  ~GgufWriter();  // removes PATH.part where finish() was not reached

  // The next bytes of the tensors' data. A tensor may come in pieces, each of whole rows.
  Status write(std::span<const std::byte> bytes);
  // After the last byte of each tensor.
  Status end_tensor();
  // Flushes and puts the file in its place.
  Status finish();

 private:
  GgufWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  Error write_error() const;

  std::string path_;
  std::FILE* file_;
  size_t tensor_bytes_ = 0;  // written of the tensor at hand
};

}  // namespace pagoda::quantize
