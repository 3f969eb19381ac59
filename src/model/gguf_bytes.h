// Test only: writes GGUF files byte by byte, so that a test can break each of them where it wants.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda::model {

class GgufBytes {
 public:
  explicit GgufBytes(uint32_t version = 3) {
    text("GGUF");
    put(version);
    put<uint64_t>(0);  // tensors
    put<uint64_t>(0);  // metadata
  }

  template <class T>
  GgufBytes& put(T value) {
    const auto* raw = reinterpret_cast<const char*>(&value);
    bytes_.append(raw, sizeof value);
    return *this;
  }
  GgufBytes& text(std::string_view value) {
    bytes_.append(value);
    return *this;
  }
  GgufBytes& string(std::string_view value) { return put<uint64_t>(value.size()).text(value); }

  // A metadata entry's key and type; the value follows by put().
  GgufBytes& key(std::string_view name, uint32_t type) {
    ++metadata_;
    return set(16, metadata_).string(name).put(type);
  }
  template <class T>
  GgufBytes& key(std::string_view name, uint32_t type, T value) {
    return key(name, type).put(value);
  }
  GgufBytes& key(std::string_view name, std::string_view value) { return key(name, 8).string(value); }

  // dims as in the file: the fastest first.
  GgufBytes& tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                    uint64_t offset) {
    ++tensors_;
    set(8, tensors_).string(name).put(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) put(dim);
    return put(type).put(offset);
  }

  // Pads to the alignment and appends the tensors' data.
  GgufBytes& data(size_t count, size_t alignment = 32) {
    while (bytes_.size() % alignment != 0) bytes_.push_back('\0');
    for (size_t i = 0; i < count; ++i) bytes_.push_back(static_cast<char>(i));
    return *this;
  }

  template <class T>
  GgufBytes& set(size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
    return *this;
  }
  GgufBytes& truncate(size_t size) {
    bytes_.resize(size);
    return *this;
  }

  size_t size() const { return bytes_.size(); }
  const std::string& str() const { return bytes_; }
  std::span<const std::byte> span() const {
    return {reinterpret_cast<const std::byte*>(bytes_.data()), bytes_.size()};
  }

 private:
  std::string bytes_;
  uint64_t tensors_ = 0;
  uint64_t metadata_ = 0;
};

}  // namespace pagoda::model
