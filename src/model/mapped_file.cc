#include "model/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/format.h"

namespace pagoda::model {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

Unexpected system_failure(const std::string& path, std::string_view action, int error) {
  const ErrorCode code =
      error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument;
  return fail(code, format("{}: cannot {}: {}", path, action, std::generic_category().message(error)));
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_failure(path, "open it", errno);
  struct stat status;
  if (::fstat(file.get(), &status) != 0) return system_failure(path, "read its size", errno);
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::kInvalidArgument, format("{}: not a regular file", path));
  if (status.st_size == 0) return fail(ErrorCode::kCorruptData, format("{}: the file is empty", path));
  const size_t size = static_cast<size_t>(status.st_size);
  void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapping == MAP_FAILED) return system_failure(path, "map it", errno);
  return MappedFile(static_cast<const std::byte*>(mapping), size);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::advise(size_t offset, size_t bytes, int advice) const {
  static const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  if (offset >= size_) return;
  const size_t begin = offset / page * page;
  const size_t end = offset + std::min(bytes, size_ - offset);
  // Advice only: a refusal changes speed, not results.
  (void)::madvise(const_cast<std::byte*>(data_) + begin, end - begin, advice);
}

void MappedFile::prefetch(size_t offset, size_t bytes) const {
  advise(offset, bytes, MADV_WILLNEED);
}
void MappedFile::release(size_t offset, size_t bytes) const {
  advise(offset, bytes, MADV_DONTNEED);
}

}  // namespace pagoda::model
