// How often each token stands in a prompt and in an answer, for the penalties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::engine {

// The distinct tokens of one choice; memory goes with their number, not with the vocabulary.
class TokenCounts {
 public:
  struct Entry {
    int32_t token = -1;
    int answer = 0;  // occurrences in the answer; 0: in the prompt only
  };

  void add_prompt(int32_t token) { entry(token); }
  void add_answer(int32_t token) { ++entry(token).answer; }
  std::span<const Entry> entries() const { return entries_; }

 private:
  Entry& entry(int32_t token);
  void grow();
  size_t place(int32_t token) const;

  std::vector<Entry> entries_;   // in order of appearance
  std::vector<int32_t> places_;  // hash table, a power of two in size: index into entries_, or -1
};

}  // namespace pagoda::engine
