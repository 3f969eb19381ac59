// A GGUF file as a source of weights. The header is copied at once, so that metadata and names stay what they
// were whatever happens to the file; the tensors' data stay in the mapping (mapped_file.h says what that asks
// of the file's owner) and are read only while the model loads.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/gguf.h"
#include "model/mapped_file.h"
#include "model/weight_source.h"

namespace pagoda::model {

class GgufFile final : public WeightSource {
 public:
  // A model that was split over several files (NAME-00001-of-00003.gguf) is opened by its first one.
  static Result<std::unique_ptr<GgufFile>> open(const std::string& path);

  const std::string& path() const override { return path_; }
  const WeightMetadata& metadata() const override { return metadata_; }
  const TensorView* find(std::string_view name) const override;
  void for_each(const std::function<void(const std::string& name, const TensorView&)>& visit) const override;
  int64_t tensor_bytes() const override { return tensor_bytes_; }
  void prefetch() const override;
  void release_pages() const override;

 private:
  struct Part {
    MappedFile file;
    std::string header;  // owned copy of the bytes before the tensors' data
    size_t data_offset;
  };

  explicit GgufFile(std::string path) : path_(std::move(path)) {}
  // Maps and parses one file; the metadata that it returns points into the part's header.
  Result<WeightMetadata> add_part(const std::string& path);
  Status add_following_parts(int64_t count);

  std::string path_;
  std::vector<std::unique_ptr<Part>> parts_;
  WeightMetadata metadata_;  // of the first part
  std::vector<GgufTensor> tensors_;
  std::map<std::string, size_t, std::less<>> index_;
  int64_t tensor_bytes_ = 0;
};

}  // namespace pagoda::model
