// A file is replaced whole or not at all: written beside its place, flushed to disk, renamed over it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda {

// Creates missing parent folders (mode 0755). A symbolic link at `path` is followed, so that a configuration
// that is linked from elsewhere stays linked. Keeps the mode and owner of a file that is there.
Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode = 0644);

// The whole of a file. kNotFound where there is none; kTooLarge above `limit` bytes.
Result<std::string> read_whole_file(const std::string& path, size_t limit = size_t{16} << 20);

// Holds an exclusive lock on `path`.lock while it lives: two runs that change the same file wait for each
// other.
class FileLock {
 public:
  // Waits up to `seconds`; kUnavailable names who else might hold it.
  static Result<FileLock> take(const std::string& path, double seconds = 10);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace pagoda
