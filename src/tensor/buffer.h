// Owned, zeroed memory from the kernel: page-aligned, huge pages where they can be had, committed as it is
// touched.
#pragma once

#include <cstddef>
#include <span>

namespace pagoda {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes);  // aborts only when address space itself is exhausted
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  size_t size() const { return size_; }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }

  template <class T>
  T* as(size_t byte_offset = 0) {
    return reinterpret_cast<T*>(data_ + byte_offset);
  }
  template <class T>
  const T* as(size_t byte_offset = 0) const {
    return reinterpret_cast<const T*>(data_ + byte_offset);
  }

  // Gives the physical pages wholly inside the range back; the range reads as zero afterwards.
  void release_pages(size_t offset, size_t bytes);

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace pagoda
