// Files that dpkg owns, and diversions of them: a package that is upgraded then writes beside the file that
// stands in its place, not over it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace pagoda::container {

// Paths are those of the machine under `root` ("" or "/": this one). Without dpkg nothing is owned.
std::optional<std::string> owning_package(const std::string& root, const std::string& path);
// The name under which packages write `path` now, where it is diverted.
std::optional<std::string> diverted_name(const std::string& root, const std::string& path);

// Moves the file, and tells dpkg. kUnavailable: dpkg-divert's own sentence.
Status divert_file(const std::string& root, const std::string& path, const std::string& to);
// Moves it back.
Status undivert_file(const std::string& root, const std::string& path);

}  // namespace pagoda::container
