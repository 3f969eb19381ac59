// Finds the table's sentences in bytes: one pass of a multi-pattern matcher over all literals (Hyperscan),
// then the one expression of the row that was hit (PCRE2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "faults/fields.h"
#include "faults/log_pattern.h"

namespace pagoda::faults {

// Immutable after creation, and shared by threads: what a scan writes to is its own Scratch.
class PatternMatcher {
 public:
  // Room for one thread's scans and matches. It must not outlive its matcher.
  class Scratch {
   public:
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

   private:
    friend class PatternMatcher;
    Scratch() = default;
    struct Room;
    std::unique_ptr<Room> room_;
  };
  // `marks` are further literals that only scan() reports: what begins an nvidia-smi output. Fails where the
  // CPU lacks SSSE3 (Hyperscan's floor).
  static Result<std::unique_ptr<PatternMatcher>> create(std::vector<std::string_view> marks);
  ~PatternMatcher();
  PatternMatcher(const PatternMatcher&) = delete;
  PatternMatcher& operator=(const PatternMatcher&) = delete;

  std::unique_ptr<Scratch> make_scratch() const;

  // A literal ends at `end` bytes into the block. `literal` counts the distinct ones: those of patterns
  // first.
  struct Hit {
    uint32_t literal = 0;
    uint64_t end = 0;
  };
  // Ascending by end. The blocks of one text must overlap by the longest literal or end at line ends.
  void scan(std::string_view block, Scratch& scratch, std::vector<Hit>& hits) const;

  bool is_mark(uint32_t literal) const;
  // Rows of the tables whose literal this is, in the tables' order: places in patterns().
  const std::vector<uint32_t>& rows_of(uint32_t literal) const;

  static std::span<const LogPattern> patterns();
  // Searches the row's expression in `line`; true when it is there, with its groups in `fields`.
  bool match(uint32_t row, std::string_view line, Scratch& scratch, Fields& fields) const;

 private:
  PatternMatcher();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pagoda::faults
