// The machine as files under one folder: / itself, or a tree that stands for another machine (a chroot, a
// mounted disk, a test's fixture). Nothing outside the folder is ever read: links are resolved inside it
// (openat2(2), RESOLVE_IN_ROOT), as they would be on the machine that the tree came from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::driver {

struct FileKind {
  char type = '-';                // - d l c b p s, as ls shows it
  uint32_t mode = 0;              // permission bits
  uint32_t major = 0, minor = 0;  // of c and b
};

// Paths are absolute, as on that machine ("/proc/modules"). Thread-safe.
class HostRoot {
 public:
  // kNotFound: no such folder; kUnsupported: another folder than / on a kernel before 5.6.
  static Result<HostRoot> open(const std::string& folder);

  bool is_this_machine() const { return folder_ == "/"; }
  const std::string& folder() const { return folder_; }
  // Where the path lies for a program outside the root: "/mnt/host/etc/os-release".
  std::string outside(std::string_view path) const;

  // The content, up to `limit` bytes; nullopt where it is absent or may not be read.
  std::optional<std::string> read(std::string_view path, size_t limit = size_t{8} << 20) const;
  // The last `count` bytes of a file, fewer of a short one.
  std::optional<std::string> read_tail(std::string_view path, size_t count) const;
  // read() without white space at both ends; empty where absent.
  std::string read_text(std::string_view path) const;
  // Names in a folder, sorted; empty where it is absent.
  std::vector<std::string> list(std::string_view path) const;
  // Links followed; nullopt: nothing there.
  std::optional<FileKind> kind(std::string_view path) const;
  bool exists(std::string_view path) const { return kind(path).has_value(); }
  bool is_folder(std::string_view path) const;
  // What a symbolic link says, not followed further.
  std::optional<std::string> link_text(std::string_view path) const;
  // The path without any link in it, as that machine sees it; nullopt: nothing there.
  std::optional<std::string> resolve(std::string_view path) const;

 private:
  struct Descriptor;
  HostRoot(std::string folder, std::shared_ptr<Descriptor> descriptor);
  int open_at(std::string_view path, int flags) const;

  std::string folder_;
  std::shared_ptr<Descriptor> descriptor_;
};

}  // namespace pagoda::driver
