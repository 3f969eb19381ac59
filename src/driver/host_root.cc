#include "driver/host_root.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/format.h"

namespace pagoda::driver {
namespace {

int open_in_root(int root, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, root, path, &how, sizeof how));
}

class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

char type_letter(mode_t mode) {
  if (S_ISDIR(mode)) return 'd';
  if (S_ISLNK(mode)) return 'l';
  if (S_ISCHR(mode)) return 'c';
  if (S_ISBLK(mode)) return 'b';
  if (S_ISFIFO(mode)) return 'p';
  if (S_ISSOCK(mode)) return 's';
  return '-';
}

std::optional<std::string> read_up_to(int descriptor, size_t limit) {
  std::string content;
  char block[16384];
  while (content.size() < limit) {
    const ssize_t count = ::read(descriptor, block, std::min(sizeof block, limit - content.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    content.append(block, static_cast<size_t>(count));
  }
  return content;
}

std::optional<std::string> path_of(int descriptor) {
  char target[PATH_MAX];
  const std::string link = format("/proc/self/fd/{}", descriptor);
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  if (length < 0) return std::nullopt;
  return std::string(target, static_cast<size_t>(length));
}

}  // namespace

struct HostRoot::Descriptor {
  explicit Descriptor(int descriptor) : file(descriptor) {}
  OpenFile file;
};

HostRoot::HostRoot(std::string folder, std::shared_ptr<Descriptor> descriptor)
    : folder_(std::move(folder)), descriptor_(std::move(descriptor)) {}

Result<HostRoot> HostRoot::open(const std::string& folder) {
  char* real = realpath(folder.c_str(), nullptr);
  if (real == nullptr) {
    return fail(ErrorCode::kNotFound, format("--root {}: {}", folder, std::strerror(errno)), "root");
  }
  std::string place(real);
  std::free(real);
  const int descriptor = ::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return fail(ErrorCode::kNotFound, format("--root {}: {}", folder, std::strerror(errno)), "root");
  }
  auto shared = std::make_shared<Descriptor>(descriptor);
  if (place != "/") {
    const OpenFile probe(open_in_root(descriptor, ".", O_PATH));
    if (!probe) {
      return fail(ErrorCode::kUnsupported,
                  format("--root {}: this kernel cannot confine paths to a folder (openat2, Linux 5.6): {}",
                         folder, std::strerror(errno)),
                  "root");
    }
  }
  return HostRoot(std::move(place), std::move(shared));
}

std::string HostRoot::outside(std::string_view path) const {
  return is_this_machine() ? std::string(path) : folder_ + std::string(path);
}

int HostRoot::open_at(std::string_view path, int flags) const {
  const std::string name(path);
  if (is_this_machine()) return ::open(name.c_str(), flags | O_CLOEXEC);
  return open_in_root(descriptor_->file.get(), name.c_str(), flags);
}

std::optional<std::string> HostRoot::read(std::string_view path, size_t limit) const {
  // Never a device node: opening one can block or act.
  const auto what = kind(path);
  if (!what || what->type != '-') return std::nullopt;
  const OpenFile file(open_at(path, O_RDONLY | O_NONBLOCK));
  if (!file) return std::nullopt;
  return read_up_to(file.get(), limit);
}

std::optional<std::string> HostRoot::read_tail(std::string_view path, size_t count) const {
  const auto what = kind(path);
  if (!what || what->type != '-') return std::nullopt;
  const OpenFile file(open_at(path, O_RDONLY | O_NONBLOCK));
  if (!file) return std::nullopt;
  const off_t size = lseek(file.get(), 0, SEEK_END);
  if (size < 0) return std::nullopt;
  lseek(file.get(), std::max<off_t>(0, size - static_cast<off_t>(count)), SEEK_SET);
  return read_up_to(file.get(), count);
}

std::string HostRoot::read_text(std::string_view path) const {
  const auto content = read(path);
  if (!content) return "";
  constexpr std::string_view kSpace(" \t\r\n\0", 5);
  const size_t first = content->find_first_not_of(kSpace);
  if (first == std::string::npos) return "";
  return content->substr(first, content->find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string> HostRoot::list(std::string_view path) const {
  std::vector<std::string> names;
  const int descriptor = open_at(path, O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return names;
  DIR* folder = fdopendir(descriptor);
  if (folder == nullptr) {
    close(descriptor);
    return names;
  }
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<FileKind> HostRoot::kind(std::string_view path) const {
  const OpenFile file(open_at(path, O_PATH));
  struct stat facts {};
  if (!file || fstat(file.get(), &facts) != 0) return std::nullopt;
  return FileKind{type_letter(facts.st_mode), facts.st_mode & 07777, major(facts.st_rdev),
                  minor(facts.st_rdev)};
}

bool HostRoot::is_folder(std::string_view path) const {
  const auto what = kind(path);
  return what && what->type == 'd';
}

std::optional<std::string> HostRoot::link_text(std::string_view path) const {
  const OpenFile file(open_at(path, O_PATH | O_NOFOLLOW));
  if (!file) return std::nullopt;
  char target[PATH_MAX];
  const ssize_t length = readlinkat(file.get(), "", target, sizeof target);
  if (length < 0) return std::nullopt;
  return std::string(target, static_cast<size_t>(length));
}

std::optional<std::string> HostRoot::resolve(std::string_view path) const {
  const OpenFile file(open_at(path, O_PATH));
  if (!file) return std::nullopt;
  auto real = path_of(file.get());
  if (!real || is_this_machine()) return real;
  if (!real->starts_with(folder_)) return std::nullopt;
  std::string inside = real->substr(folder_.size());
  return inside.empty() ? "/" : inside;
}

}  // namespace pagoda::driver
