// Which files of a model are wanted: shell patterns, where '*' also crosses folders.
#pragma once

#include <string>
#include <vector>

namespace pagoda::hub {

struct FilePatterns {
  std::vector<std::string> include;  // empty: all
  std::vector<std::string> exclude;
  // A pattern that ends with '/' means everything in that folder.
  bool wants(const std::string& path) const;
};

}  // namespace pagoda::hub
