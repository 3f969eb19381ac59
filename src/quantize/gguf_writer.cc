#include "quantize/gguf_writer.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/format.h"
#include "model/gguf_types.h"

namespace pagoda::quantize {
namespace {

constexpr size_t kAlignment = 32;  // the format's default

enum ValueType : uint32_t {
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
};

size_t padding_of(size_t bytes) {
  return (kAlignment - bytes % kAlignment) % kAlignment;
}

class Header {
 public:
  template <class T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    put<uint64_t>(value.size());
    bytes_.append(value);
  }
  void raw(std::string_view value) { bytes_.append(value); }
  void pad() { bytes_.append(padding_of(bytes_.size()), '\0'); }
  const std::string& bytes() const { return bytes_; }

  // One per kind of WeightMetadata::Value.
  void value(bool v) {
    put<uint32_t>(kBool);
    put<uint8_t>(v);
  }
  void value(int64_t v) {
    if (v >= 0) return value(static_cast<uint64_t>(v));
    const bool narrow = v >= std::numeric_limits<int32_t>::min();
    put<uint32_t>(narrow ? kI32 : kI64);
    narrow ? put(static_cast<int32_t>(v)) : put(v);
  }
  void value(uint64_t v) {
    const bool narrow = v <= std::numeric_limits<uint32_t>::max();
    put<uint32_t>(narrow ? kU32 : kU64);
    narrow ? put(static_cast<uint32_t>(v)) : put(v);
  }
  void value(double v) {
    put<uint32_t>(kF32);
    put(static_cast<float>(v));
  }
  void value(std::string_view v) {
    put<uint32_t>(kString);
    text(v);
  }
  void array(uint32_t type, size_t count) {
    put<uint32_t>(kArray);
    put(type);
    put<uint64_t>(count);
  }
  void value(const std::vector<bool>& v) {
    array(kBool, v.size());
    for (const bool element : v) put<uint8_t>(element);
  }
  void value(const std::vector<int64_t>& v) {
    array(kI32, v.size());
    for (const int64_t element : v) put(static_cast<int32_t>(element));
  }
  void value(const std::vector<double>& v) {
    array(kF32, v.size());
    for (const double element : v) put(static_cast<float>(element));
  }
  void value(const std::vector<std::string_view>& v) {
    array(kString, v.size());
    for (const std::string_view element : v) text(element);
  }

 private:
  std::string bytes_;
};

std::string header_of(const model::WeightMetadata& metadata, const std::vector<TensorToWrite>& tensors) {
  Header header;
  header.raw("GGUF");
  header.put<uint32_t>(3);
  header.put<uint64_t>(tensors.size());
  header.put<uint64_t>(metadata.values().size());
  for (const auto& [key, value] : metadata.values()) {
    header.text(key);
    std::visit([&](const auto& v) { header.value(v); }, value);
  }
  uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    header.text(tensor.name);
    header.put(static_cast<uint32_t>(tensor.shape.rank()));
    for (int i = tensor.shape.rank() - 1; i >= 0; --i) header.put(static_cast<uint64_t>(tensor.shape[i]));
    header.put(model::gguf_type_of(tensor.dtype));
    header.put(offset);
    const size_t bytes = bytes_of(tensor.dtype, static_cast<size_t>(tensor.shape.elements()));
    offset += bytes + padding_of(bytes);
  }
  header.pad();
  return header.bytes();
}

std::string part_of(const std::string& path) {
  return path + ".part";
}

}  // namespace

Result<std::unique_ptr<GgufWriter>> GgufWriter::create(const std::string& path,
                                                       const model::WeightMetadata& metadata,
                                                       const std::vector<TensorToWrite>& tensors) {
  std::FILE* file = std::fopen(part_of(path).c_str(), "wb");
  if (file == nullptr)
    return fail(ErrorCode::kInvalidArgument, format("{}: cannot write it: {}", path, std::strerror(errno)));
  std::unique_ptr<GgufWriter> writer(new GgufWriter(path, file));
  const std::string header = header_of(metadata, tensors);
  if (std::fwrite(header.data(), 1, header.size(), file) != header.size())
    return Unexpected(writer->write_error());
  return writer;
}

GgufWriter::~GgufWriter() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink(part_of(path_).c_str());
}

Error GgufWriter::write_error() const {
  return {ErrorCode::kResourceExhausted, format("{}: cannot write it: {}", path_, std::strerror(errno)), {}};
}

Status GgufWriter::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) return Unexpected(write_error());
  tensor_bytes_ += bytes.size();
  return {};
}

Status GgufWriter::end_tensor() {
  constexpr std::byte kZeros[kAlignment] = {};
  const size_t padding = padding_of(tensor_bytes_);
  tensor_bytes_ = 0;
  if (std::fwrite(kZeros, 1, padding, file_) != padding) return Unexpected(write_error());
  return {};
}

Status GgufWriter::finish() {
  std::FILE* file = std::exchange(file_, nullptr);
  const bool flushed = std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  const bool closed = std::fclose(file) == 0;
  if (flushed && closed && std::rename(part_of(path_).c_str(), path_.c_str()) == 0) return {};
  const Error error = write_error();
  ::unlink(part_of(path_).c_str());
  return Unexpected(error);
}

}  // namespace pagoda::quantize
