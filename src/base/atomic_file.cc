#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/format.h"

namespace pagoda {
namespace {

namespace fs = std::filesystem;

Unexpected errno_fault(std::string_view what, const std::string& path) {
  const int fault = errno;
  const ErrorCode code = fault == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  std::string_view remedy;
  if (fault == EROFS) remedy = "; nothing was changed";
  if (fault == EACCES || fault == EPERM) remedy = "; run it as root";
  return fail(code, format("{} {}: {}{}", path, what, std::strerror(fault), remedy));
}

// Where `path` leads when it is a symbolic link, else itself; a dangling link gives its target.
std::string through_links(const std::string& path) {
  std::error_code fault;
  fs::path place = path;
  for (int hops = 0; hops < 16 && fs::is_symlink(fs::symlink_status(place, fault)); ++hops) {
    const fs::path target = fs::read_symlink(place, fault);
    place = target.is_absolute() ? target : place.parent_path() / target;
  }
  return place.string();
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = write(descriptor, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    content.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

void flush_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode) {
  const std::string place = through_links(path);
  const fs::path folder = fs::path(place).parent_path();
  std::error_code fault;
  if (!folder.empty()) fs::create_directories(folder, fault);
  if (fault) {
    errno = fault.value();
    return errno_fault("cannot be created", folder.string());
  }
  std::string temporary = place + ".XXXXXX";
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return errno_fault("cannot be written", place);
  struct stat before {};
  const bool replaces = stat(place.c_str(), &before) == 0;
  bool done =
      write_all(descriptor, content) && fchmod(descriptor, replaces ? before.st_mode & 07777 : mode) == 0;
  if (done && replaces && geteuid() == 0) done = fchown(descriptor, before.st_uid, before.st_gid) == 0;
  done = done && fsync(descriptor) == 0;
  const int write_fault = errno;
  close(descriptor);
  errno = write_fault;
  if (done && rename(temporary.c_str(), place.c_str()) == 0) {
    flush_folder(folder.empty() ? fs::path(".") : folder);
    return {};
  }
  auto error = errno_fault("cannot be written", place);
  unlink(temporary.c_str());
  return error;
}

Result<std::string> read_whole_file(const std::string& path, size_t limit) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return errno_fault("cannot be read", path);
  std::string content;
  char block[65536];
  ssize_t count = 0;
  while ((count = read(descriptor, block, sizeof block)) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    content.append(block, static_cast<size_t>(count));
    if (content.size() > limit) break;
  }
  const int read_fault = errno;
  close(descriptor);
  errno = read_fault;
  if (count < 0) return errno_fault("cannot be read", path);
  if (content.size() > limit) {
    return fail(ErrorCode::kTooLarge, format("{} is larger than {} bytes", path, limit));
  }
  return content;
}

Result<FileLock> FileLock::take(const std::string& path, double seconds) {
  const std::string place = path + ".lock";
  std::error_code ignored;
  fs::create_directories(fs::path(place).parent_path(), ignored);
  const int descriptor = open(place.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return errno_fault("cannot be locked", path);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      auto error = errno_fault("cannot be locked", path);
      close(descriptor);
      return error;
    }
    if (std::chrono::steady_clock::now() >= end) {
      close(descriptor);
      return fail(ErrorCode::kUnavailable,
                  format("{} is being changed by another run; try again when it has ended", path));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return FileLock(descriptor);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace pagoda
