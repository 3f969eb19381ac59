// A container's root as its own files see it. Whoever made them may be hostile: every path is resolved by the
// kernel inside the root, without /proc's magic links (openat2(2): RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS),
// and what is opened is a descriptor, never a name that could be swapped afterwards.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::container {

// Closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return number_; }

 private:
  int number_;
};

class ConfinedRoot {
 public:
  // `folder` is a host path, trusted: the engine wrote it.
  static Result<ConfinedRoot> open(const std::string& folder);

  int descriptor() const { return root_.get(); }

  // Paths are the container's, absolute.
  Result<Descriptor> open_at(std::string_view path, int flags) const;
  // The folder, made with all above it (0755) where it is absent. Error where something else stands in the
  // way.
  Result<Descriptor> make_folder(std::string_view path) const;
  // A symbolic link at `path`. An older link there is replaced; a file or folder is left as it is
  // (kUnsupported).
  Status make_link(std::string_view path, const std::string& target) const;
  // The file is replaced as a whole, never written through a link that stands in its place.
  Status write_file(std::string_view path, std::string_view content) const;
  Status change_mode(std::string_view path, unsigned mode) const;

 private:
  explicit ConfinedRoot(Descriptor root) : root_(std::move(root)) {}
  Descriptor root_;
};

}  // namespace pagoda::container
