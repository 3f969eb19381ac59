// The merging of a word's symbols by the best-ranked neighbouring pair, until none is left: byte-pair
// encoding, whatever ranks the pairs. Short words by scanning, long ones by a heap: n log n, also without a
// single space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <vector>

namespace pagoda::text {

// A run of bytes of the word that is one token so far; token -1: these bytes are none, and never merge.
struct Symbol {
  uint32_t begin = 0;
  uint32_t length = 0;
  int32_t token = -1;
};

// What two neighbours become. Lower ranks merge first; of equal ranks the leftmost.
struct PairMerge {
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  uint64_t rank = kNever;
  int32_t token = -1;
};

inline constexpr size_t kScanLimit = 48;  // symbols up to which scanning beats the heap

// Merges in place; the symbols that remain are symbols[0, returned). `merge_of(left, right)` → PairMerge.
template <class MergeOf>
size_t merge_by_scanning(std::span<Symbol> symbols, const MergeOf& merge_of) {
  PairMerge merges[kScanLimit];
  size_t count = symbols.size();
  for (size_t i = 0; i + 1 < count; ++i) merges[i] = merge_of(symbols[i], symbols[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (merges[i].rank < merges[best].rank) best = i;
    }
    if (merges[best].rank == PairMerge::kNever) break;
    symbols[best].length += symbols[best + 1].length;
    symbols[best].token = merges[best].token;
    --count;
    for (size_t i = best + 1; i < count; ++i) symbols[i] = symbols[i + 1];
    for (size_t i = best + 1; i + 1 < count; ++i) merges[i] = merges[i + 1];
    if (best + 1 < count) merges[best] = merge_of(symbols[best], symbols[best + 1]);
    if (best > 0) merges[best - 1] = merge_of(symbols[best - 1], symbols[best]);
  }
  return count;
}

template <class MergeOf>
class HeapMerging {
 public:
  HeapMerging(std::span<Symbol> symbols, const MergeOf& merge_of)
      : symbols_(symbols), merge_of_(merge_of), links_(symbols.size()) {
    for (size_t i = 0; i < symbols.size(); ++i) {
      links_[i] = {static_cast<int32_t>(i) - 1, static_cast<int32_t>(i) + 1};
    }
    if (!symbols.empty()) links_.back().next = -1;
  }

  size_t run() {
    for (size_t i = 0; i + 1 < symbols_.size(); ++i) propose(static_cast<int32_t>(i));
    while (!queue_.empty()) {
      const Proposal best = queue_.top();
      queue_.pop();
      if (still_holds(best)) apply(best);
    }
    return compact();
  }

 private:
  struct Link {
    int32_t previous = -1;
    int32_t next = -1;
  };
  struct Proposal {
    uint64_t rank;
    int32_t left;
    int32_t token;
    uint32_t
        length;  // of both symbols when proposed: symbols only grow, so it tells whether they still are these
    bool operator<(const Proposal& other) const {  // for a heap whose top is the best
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };
  Symbol& at(int32_t i) { return symbols_[static_cast<size_t>(i)]; }
  Link& link(int32_t i) { return links_[static_cast<size_t>(i)]; }

  void propose(int32_t left) {
    if (left < 0 || link(left).next < 0) return;
    const Symbol &a = at(left), &b = at(link(left).next);
    const PairMerge merge = merge_of_(a, b);
    if (merge.rank != PairMerge::kNever) queue_.push({merge.rank, left, merge.token, a.length + b.length});
  }
  bool still_holds(const Proposal& proposal) {
    const int32_t next = link(proposal.left).next;
    return at(proposal.left).length > 0 && next >= 0 &&
           at(proposal.left).length + at(next).length == proposal.length;
  }
  void apply(const Proposal& proposal) {
    const int32_t gone = link(proposal.left).next;
    at(proposal.left).length = proposal.length;
    at(proposal.left).token = proposal.token;
    at(gone).length = 0;
    link(proposal.left).next = link(gone).next;
    if (link(gone).next >= 0) link(link(gone).next).previous = proposal.left;
    propose(link(proposal.left).previous);
    propose(proposal.left);
  }
  size_t compact() {
    size_t count = 0;
    for (const Symbol& symbol : symbols_) {
      if (symbol.length > 0) symbols_[count++] = symbol;
    }
    return count;
  }

  std::span<Symbol> symbols_;
  const MergeOf& merge_of_;
  std::vector<Link> links_;
  std::priority_queue<Proposal> queue_;
};

template <class MergeOf>
size_t merge_pairs(std::span<Symbol> symbols, const MergeOf& merge_of) {
  if (symbols.size() <= kScanLimit) return merge_by_scanning(symbols, merge_of);
  return HeapMerging<MergeOf>(symbols, merge_of).run();
}

}  // namespace pagoda::text
