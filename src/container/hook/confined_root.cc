#include "container/hook/confined_root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"

namespace pagoda::container {
namespace {

Unexpected errno_fault(std::string_view path, std::string_view what) {
  const int fault = errno;
  return fail(fault == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
              format("{} {}: {}", path, what, std::strerror(fault)));
}

// "/usr/lib/libcuda.so" → "/usr/lib", "libcuda.so". "." and ".." are no names.
struct Split {
  std::string folder, name;
};
Result<Split> split_path(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  const std::string_view name = path.substr(slash + 1);
  if (!path.starts_with('/') || name.empty() || name == "." || name == "..") {
    return fail(ErrorCode::kInvalidArgument, format("'{}' is no absolute path of a file", path));
  }
  return Split{slash == 0 ? "/" : std::string(path.substr(0, slash)), std::string(name)};
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

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Result<ConfinedRoot> ConfinedRoot::open(const std::string& folder) {
  Descriptor root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) return errno_fault(folder, "cannot be opened");
  ConfinedRoot confined(std::move(root));
  // A kernel before 5.6 cannot confine: then nothing is done at all.
  PAGODA_TRY(confined.open_at("/", O_PATH | O_DIRECTORY));
  return confined;
}

Result<Descriptor> ConfinedRoot::open_at(std::string_view path, int flags) const {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const std::string name(path);
  long opened = -1;
  // EAGAIN: a rename somewhere made the kernel unsure whether a ".." left the root; it asks for another try.
  for (int tries = 0; tries < 128; ++tries) {
    opened = syscall(SYS_openat2, root_.get(), name.c_str(), &how, sizeof how);
    if (opened >= 0 || errno != EAGAIN) break;
  }
  if (opened < 0) return errno_fault(path, "cannot be opened in the container's root");
  return Descriptor(static_cast<int>(opened));
}

Result<Descriptor> ConfinedRoot::make_folder(std::string_view path) const {
  auto there = open_at(path, O_RDONLY | O_DIRECTORY);
  if (there || path == "/" || there.error().code != ErrorCode::kNotFound) return there;
  PAGODA_ASSIGN(const auto split, split_path(path));
  PAGODA_ASSIGN(const auto parent, make_folder(split.folder));
  if (mkdirat(parent.get(), split.name.c_str(), 0755) != 0 && errno != EEXIST) {
    return errno_fault(path, "cannot be made in the container's root");
  }
  // By the parent's descriptor and without links: what was made is what is opened.
  Descriptor made(openat(parent.get(), split.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (made.get() < 0) return errno_fault(path, "was swapped while it was made");
  return made;
}

Status ConfinedRoot::make_link(std::string_view path, const std::string& target) const {
  PAGODA_ASSIGN(const auto split, split_path(path));
  PAGODA_ASSIGN(const auto parent, make_folder(split.folder));
  if (symlinkat(target.c_str(), parent.get(), split.name.c_str()) == 0) return {};
  if (errno != EEXIST) return errno_fault(path, "cannot be linked in the container's root");
  struct stat facts {};
  if (fstatat(parent.get(), split.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0)
    return errno_fault(path, "vanished");
  if (!S_ISLNK(facts.st_mode)) {
    return fail(ErrorCode::kUnsupported,
                format("{} is there in the image and is no link; it is left as it is", path));
  }
  const std::string temporary = format(".pagoda-{}-{}", getpid(), split.name);
  if (symlinkat(target.c_str(), parent.get(), temporary.c_str()) != 0 ||
      renameat(parent.get(), temporary.c_str(), parent.get(), split.name.c_str()) != 0) {
    auto fault = errno_fault(path, "cannot be linked in the container's root");
    unlinkat(parent.get(), temporary.c_str(), 0);
    return fault;
  }
  return {};
}

Status ConfinedRoot::write_file(std::string_view path, std::string_view content) const {
  PAGODA_ASSIGN(const auto split, split_path(path));
  PAGODA_ASSIGN(const auto parent, make_folder(split.folder));
  const std::string temporary = format(".pagoda-{}-{}", getpid(), split.name);
  const Descriptor file(
      openat(parent.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file.get() < 0) return errno_fault(path, "cannot be written in the container's root");
  if (write_all(file.get(), content) &&
      renameat(parent.get(), temporary.c_str(), parent.get(), split.name.c_str()) == 0) {
    return {};
  }
  auto fault = errno_fault(path, "cannot be written in the container's root");
  unlinkat(parent.get(), temporary.c_str(), 0);
  return fault;
}

Status ConfinedRoot::change_mode(std::string_view path, unsigned mode) const {
  PAGODA_ASSIGN(const auto file, open_at(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (fchmod(file.get(), mode) != 0) return errno_fault(path, "cannot be given another mode");
  return {};
}

}  // namespace pagoda::container
