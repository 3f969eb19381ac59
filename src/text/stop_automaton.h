// Finds any of several strings in a stream of bytes, in constant time per byte however the strings overlap
// (Aho and Corasick, 1975). Immutable after construction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pagoda::text {

class StopAutomaton {
 public:
  using State = uint32_t;
  static constexpr State kStart = 0;

  // `strings`: empty ones never match.
  explicit StopAutomaton(std::vector<std::string> strings);

  State next(State state, unsigned char byte) const;
  // The longest string that ends where this state was reached; empty when none does.
  std::string_view match(State state) const;
  // How many of the last bytes may still become a string.
  size_t open_bytes(State state) const { return nodes_[state].open; }

 private:
  struct Node {
    std::vector<std::pair<unsigned char, State>> children;
    State fallback = kStart;  // the longest proper suffix that is a beginning too
    int32_t match = -1;       // index into strings_
    uint32_t depth = 0;
    uint32_t open = 0;
  };
  const State* child(State state, unsigned char byte) const;
  void insert(size_t index);
  void link();

  std::vector<std::string> strings_;
  std::vector<Node> nodes_;
};

}  // namespace pagoda::text
