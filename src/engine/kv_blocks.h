// Who owns which KV block: tables of sequences, sharing, prefix reuse, swap slots. The memory behind the
// blocks is the ModelRunner's; what must be moved there is returned as BlockCopy and BlockSwap, plain data
// for the StepPlan.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/block_pool.h"
#include "engine/model_runner.h"
#include "engine/prefix_index.h"
#include "engine/step_plan.h"

namespace pagoda::engine {

// One sequence's blocks. Opened, extended and released by KvBlocks only.
struct KvTable {
  std::vector<std::vector<int>>
      blocks;                    // [group][position / block size]; -1: left the window. Slots when swapped.
  std::vector<int> left_window;  // per group: entries before it are -1
  PrefixNode* root = nullptr;    // pinned while open
  PrefixNode* prefix = nullptr;  // pinned: the blocks that are in the prefix index end here
  int indexed_blocks = 0;
  bool swapped = false;

  bool open() const { return !blocks.empty(); }
};

// Engine thread only. Positions are counted from the sequence's first token.
class KvBlocks {
 public:
  KvBlocks(const KvCapacity& capacity, bool prefix_caching);

  // Opens `table` and takes the blocks of the longest known prefix of `tokens`, but never all of them: the
  // last token is left to compute, since its logits are wanted. Layers with a window count as holding a
  // prefix when they hold what the next token sees. Returns the number of tokens found. With `reuse` false,
  // 0.
  int open(KvTable& table, std::span<const int32_t> tokens, std::string_view name_space, bool reuse);
  // Makes [first, end) writable: new blocks, and a copy of a partly filled block that others share too. All
  // or nothing; false when there are not enough blocks.
  bool extend(KvTable& table, int first, int end, std::vector<BlockCopy>& copies);
  // The KV of [0, computed) exists now: whole blocks become findable, blocks out of the window are let go.
  void computed(KvTable& table, std::span<const int32_t> tokens, int computed);
  // `to` shares every block of `from`.
  void fork(const KvTable& from, KvTable& to);
  void release(KvTable& table);

  // Moves the whole table to swap slots; false (and nothing changed) when there is no room for it.
  bool swap_out(KvTable& table, std::vector<BlockSwap>& moves);
  bool swap_in(KvTable& table, std::vector<BlockSwap>& moves);

  // The end that a sequence could reach, all blocks being its own: one token at a time, and within one step.
  int reach_at_length() const { return reach_at_length_; }
  int reach_in_step(const KvTable& table) const;
  // Blocks that `table` still misses in `group` to get to `end` by steps of at most `step_tokens`.
  int missing(const KvTable& table, int group, int end, int step_tokens) const;

  int groups() const { return static_cast<int>(pools_.size()); }
  int block_size() const { return block_size_; }
  int available(int group) const { return pool(group).available(); }
  int total(int group) const { return pool(group).total(); }
  int free_swap_slots(int group) const { return static_cast<int>(free_slots_[index(group)].size()); }
  int64_t block_bytes(int group) const { return block_bytes_[index(group)]; }
  size_t indexed_prefixes() const { return index_.size(); }

  int64_t used_bytes() const;  // referenced blocks
  double usage() const;        // share of the bytes, [0, 1]
  // Bytes allocated to `table` that hold none of its `computed` tokens; a shared block's are divided among
  // its users.
  double waste_bytes(const KvTable& table, int computed) const;

 private:
  static size_t index(int i) { return static_cast<size_t>(i); }
  BlockPool& pool(int group) { return pools_[index(group)]; }
  const BlockPool& pool(int group) const { return pools_[index(group)]; }
  int blocks_for(int tokens) const { return (tokens + block_size_ - 1) / block_size_; }
  // The first block that a token at `position` sees.
  int first_visible(int group, int position) const;
  int take_block(int group);
  bool must_copy(const KvTable& table, int group, int first) const;
  void index_blocks(KvTable& table, std::span<const int32_t> tokens, int computed);
  void leave_windows(KvTable& table, int computed);
  std::vector<PrefixNode*> longest_prefix(PrefixNode* root, std::span<const int32_t> tokens) const;

  const int block_size_;
  const bool prefix_caching_;
  std::vector<int> windows_;  // per group; 0: none
  std::vector<int64_t> block_bytes_;
  std::vector<BlockPool> pools_;
  std::vector<std::vector<int>> free_slots_;
  int reach_at_length_ = 0;
  PrefixIndex index_;
};

}  // namespace pagoda::engine
