#include "hub/file_patterns.h"

#include <fnmatch.h>

#include <algorithm>

namespace pagoda::hub {
namespace {

bool any_matches(const std::vector<std::string>& patterns, const std::string& path) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    const std::string whole = pattern.ends_with('/') ? pattern + "*" : pattern;
    return fnmatch(whole.c_str(), path.c_str(), FNM_NOESCAPE) == 0;
  });
}

}  // namespace

bool FilePatterns::wants(const std::string& path) const {
  return (include.empty() || any_matches(include, path)) && !any_matches(exclude, path);
}

}  // namespace pagoda::hub
