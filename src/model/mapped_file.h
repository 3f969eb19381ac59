// A file mapped read-only, whole.
//
// The kernel answers a read past the end of a file that somebody has cut short meanwhile with SIGBUS, which
// ends the process: whoever replaces a model that is in use must write a new file and rename it over the old
// one, as every downloader does, and not truncate it in place.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace pagoda::model {

class MappedFile {
 public:
  // kNotFound, or kInvalidArgument for what is no regular file, is empty or may not be read. Never blocks on
  // a FIFO or a device.
  static Result<MappedFile> open(const std::string& path);

  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

  // Asks the kernel to read the range ahead; returns at once. Out-of-range parts are ignored.
  void prefetch(size_t offset, size_t bytes) const;
  // Drops this process's hold on the pages of the range; reading them again brings them back.
  void release(size_t offset, size_t bytes) const;

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  void advise(size_t offset, size_t bytes, int advice) const;

  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace pagoda::model
