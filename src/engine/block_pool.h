// The blocks of one KV group: who is referenced, who is cached for reuse, who is free.
#pragma once

#include <cstddef>
#include <vector>

namespace pagoda::engine {

struct PrefixNode;

// A block is in one of three states: referenced by sequences, cached (unreferenced, its content findable in
// the prefix index), or free. Allocation takes the most recently freed block first, which keeps the touched
// memory small, and evicts the least recently used cached block only when none is free. Engine thread only.
class BlockPool {
 public:
  explicit BlockPool(int blocks);

  int total() const { return static_cast<int>(blocks_.size()); }
  int available() const { return static_cast<int>(free_.size()) + cached_; }  // free or evictable
  int referenced() const { return total() - available(); }

  // The block that allocate() would have to evict, or -1 when one is free. Its owner in the index must let go
  // of it (forget_content) first.
  int next_eviction() const { return free_.empty() ? oldest_ : -1; }
  // Needs a free block; the new block has one reference.
  int allocate();
  void add_reference(int block);
  void release(int block);
  int references(int block) const { return at(block).references; }

  // The prefix that the block's content stands for, or null.
  PrefixNode* content(int block) const { return at(block).content; }
  void set_content(int block, PrefixNode* node) { at(block).content = node; }
  // The block's content can no longer be found: a cached block becomes free.
  void forget_content(int block);

 private:
  struct Block {
    int references = 0;
    PrefixNode* content = nullptr;
    int older = -1, newer = -1;  // neighbours among the cached blocks
  };
  Block& at(int block) { return blocks_[static_cast<size_t>(block)]; }
  const Block& at(int block) const { return blocks_[static_cast<size_t>(block)]; }
  void append_cached(int block);
  void unlink_cached(int block);

  std::vector<Block> blocks_;
  std::vector<int> free_;  // a stack
  int oldest_ = -1, newest_ = -1, cached_ = 0;
};

}  // namespace pagoda::engine
