// The tokens that are looked for in a text before anything else: control and user-defined ones. At each place
// the longest wins (leftmost-longest).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pagoda::text {

class AddedTokenTrie {
 public:
  struct Entry {
    std::string_view text;
    int32_t token;
  };
  struct Match {
    size_t begin = 0;
    size_t length = 0;
    int32_t token = -1;  // -1: no added token from `from` on
  };

  // Entries without text are ignored; of equal ones the first counts.
  explicit AddedTokenTrie(std::vector<Entry> entries);
  Match find(std::string_view text, size_t from) const;

 private:
  struct Node {
    uint32_t first_child = 0;  // children stand together, ordered by their byte
    uint32_t children = 0;
    int32_t token = -1;
    unsigned char byte = 0;  // that leads here from the parent
  };
  uint32_t child(uint32_t node, unsigned char byte) const;  // 0: none

  std::vector<Node> nodes_;
  std::array<uint32_t, 256> from_root_{};
};

}  // namespace pagoda::text
