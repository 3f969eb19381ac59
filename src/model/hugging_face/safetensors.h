// One .safetensors file, mapped: 8 bytes with the header's length, the header as JSON ({"name": {"dtype",
// "shape", "data_offsets"}}), the tensors' bytes. Format: https://github.com/huggingface/safetensors
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "model/mapped_file.h"
#include "tensor/tensor_view.h"

namespace pagoda::model {

class SafetensorsFile {
 public:
  // kCorruptData, naming file and tensor: a header that is cut off or no JSON, an offset past the end, a
  // shape that does not fill its bytes. kUnsupported: a type that nothing here reads (F8_E5M2, …).
  static Result<SafetensorsFile> open(const std::string& path);

  // By the names that the file gives them. Views are valid as long as this lives.
  const std::map<std::string, TensorView, std::less<>>& tensors() const { return tensors_; }
  void prefetch() const { file_.prefetch(0, file_.bytes().size()); }
  void release_pages() const { file_.release(0, file_.bytes().size()); }

 private:
  explicit SafetensorsFile(MappedFile file) : file_(std::move(file)) {}
  Status read_header(const std::string& path);

  MappedFile file_;
  std::map<std::string, TensorView, std::less<>> tensors_;
};

}  // namespace pagoda::model
