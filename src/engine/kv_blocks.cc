#include "engine/kv_blocks.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace pagoda::engine {

KvBlocks::KvBlocks(const KvCapacity& capacity, bool prefix_caching)
    : block_size_(capacity.block_size),
      prefix_caching_(prefix_caching),
      block_bytes_(capacity.block_bytes),
      index_(static_cast<int>(capacity.layout.size()), capacity.block_size) {
  PAGODA_CHECK(block_size_ > 0 && !capacity.layout.empty(), "KV blocks need a layout");
  PAGODA_CHECK(capacity.blocks.size() == capacity.layout.size(), "one block count per KV group");
  block_bytes_.resize(capacity.layout.size(), 0);
  reach_at_length_ = std::numeric_limits<int>::max();
  for (size_t group = 0; group < capacity.layout.size(); ++group) {
    const int window = capacity.layout[group].window;
    const int blocks = capacity.blocks[group];
    windows_.push_back(window);
    pools_.emplace_back(blocks);
    // A window's last block may be only begun and its first one only half left.
    const bool bounded = window > 0 && blocks >= blocks_for(window - 1) + 1;
    if (!bounded) reach_at_length_ = std::min(reach_at_length_, blocks * block_size_);
    const int slots = group < capacity.swap_blocks.size() ? capacity.swap_blocks[group] : 0;
    auto& free = free_slots_.emplace_back();
    for (int slot = slots - 1; slot >= 0; --slot) free.push_back(slot);
  }
}

int KvBlocks::first_visible(int group, int position) const {
  const int window = windows_[index(group)];
  return window == 0 ? 0 : std::max(0, position - window + 1) / block_size_;
}

std::vector<PrefixNode*> KvBlocks::longest_prefix(PrefixNode* root, std::span<const int32_t> tokens) const {
  std::vector<PrefixNode*> path;
  std::vector<int> held(pools_.size(), 0);  // per group: how many of the last nodes have its block
  size_t usable = 0;
  const size_t size = index(block_size_);
  const size_t most = (tokens.size() - 1) / size;
  for (PrefixNode* node = root; path.size() < most;) {
    node = index_.find(node, tokens.subspan(path.size() * size, size));
    if (node == nullptr) break;
    path.push_back(node);
    const int length = static_cast<int>(path.size());
    bool whole = true, dead_end = false;
    for (int group = 0; group < groups(); ++group) {
      int& run = held[index(group)];
      run = node->blocks[index(group)] >= 0 ? run + 1 : 0;
      whole = whole && run >= length - first_visible(group, length * block_size_);
      dead_end = dead_end || (windows_[index(group)] == 0 && run < length);
    }
    if (whole) usable = path.size();
    if (dead_end) break;
  }
  path.resize(usable);
  return path;
}

int KvBlocks::open(KvTable& table, std::span<const int32_t> tokens, std::string_view name_space, bool reuse) {
  PAGODA_CHECK(!table.open() && !tokens.empty(), "a table is opened once, for at least one token");
  table.blocks.assign(pools_.size(), {});
  table.left_window.assign(pools_.size(), 0);
  if (!prefix_caching_) return 0;
  table.root = index_.pin_root(name_space);
  table.prefix = table.root;
  if (reuse) {
    const std::vector<PrefixNode*> path = longest_prefix(table.root, tokens);
    table.indexed_blocks = static_cast<int>(path.size());
    if (!path.empty()) table.prefix = path.back();
    for (int group = 0; group < groups(); ++group) {
      const int first = first_visible(group, table.indexed_blocks * block_size_);
      table.left_window[index(group)] = first;
      auto& blocks = table.blocks[index(group)];
      blocks.assign(path.size(), -1);
      for (size_t i = index(first); i < path.size(); ++i) {
        blocks[i] = path[i]->blocks[index(group)];
        pool(group).add_reference(blocks[i]);
      }
    }
  }
  index_.pin(table.prefix);
  return table.indexed_blocks * block_size_;
}

bool KvBlocks::must_copy(const KvTable& table, int group, int first) const {
  const auto& blocks = table.blocks[index(group)];
  const size_t written = index(first / block_size_);
  return written < blocks.size() && pool(group).references(blocks[written]) > 1;
}

bool KvBlocks::extend(KvTable& table, int first, int end, std::vector<BlockCopy>& copies) {
  for (int group = 0; group < groups(); ++group) {
    const int fresh = std::max(0, blocks_for(end) - static_cast<int>(table.blocks[index(group)].size()));
    if (fresh + (must_copy(table, group, first) ? 1 : 0) > available(group)) return false;
  }
  for (int group = 0; group < groups(); ++group) {
    auto& blocks = table.blocks[index(group)];
    if (must_copy(table, group, first)) {
      int& written = blocks[index(first / block_size_)];
      const int own = take_block(group);
      copies.push_back({group, written, own});
      pool(group).release(written);
      written = own;
    }
    while (static_cast<int>(blocks.size()) < blocks_for(end)) blocks.push_back(take_block(group));
  }
  return true;
}

int KvBlocks::take_block(int group) {
  const int evicted = pool(group).next_eviction();
  if (evicted >= 0) {
    index_.detach(pool(group).content(evicted), group);
    pool(group).forget_content(evicted);
  }
  return pool(group).allocate();
}

void KvBlocks::computed(KvTable& table, std::span<const int32_t> tokens, int computed) {
  if (prefix_caching_) index_blocks(table, tokens, computed);
  leave_windows(table, computed);
}

void KvBlocks::index_blocks(KvTable& table, std::span<const int32_t> tokens, int computed) {
  for (; (table.indexed_blocks + 1) * block_size_ <= computed; ++table.indexed_blocks) {
    const size_t i = index(table.indexed_blocks);
    PrefixNode* node =
        index_.pin_child(table.prefix, tokens.subspan(i * index(block_size_), index(block_size_)));
    for (int group = 0; group < groups(); ++group) {
      const int block = table.blocks[index(group)][i];
      // Another sequence may have computed the same prefix at the same time: the first one's block stays.
      if (block < 0 || node->blocks[index(group)] >= 0) continue;
      index_.attach(node, group, block);
      pool(group).set_content(block, node);
    }
    index_.unpin(table.prefix);
    table.prefix = node;
  }
}

void KvBlocks::leave_windows(KvTable& table, int computed) {
  for (int group = 0; group < groups(); ++group) {
    auto& blocks = table.blocks[index(group)];
    int& left = table.left_window[index(group)];
    const int visible = std::min(first_visible(group, computed), static_cast<int>(blocks.size()));
    for (; left < visible; ++left) {
      pool(group).release(blocks[index(left)]);
      blocks[index(left)] = -1;
    }
  }
}

void KvBlocks::fork(const KvTable& from, KvTable& to) {
  PAGODA_CHECK(from.open() && !from.swapped && !to.open(), "a table is forked into a new one");
  to = from;
  for (int group = 0; group < groups(); ++group) {
    for (const int block : to.blocks[index(group)]) {
      if (block >= 0) pool(group).add_reference(block);
    }
  }
  if (to.root != nullptr) index_.pin(to.root);
  if (to.prefix != nullptr) index_.pin(to.prefix);
}

void KvBlocks::release(KvTable& table) {
  for (int group = 0; group < groups() && table.open(); ++group) {
    const auto& blocks = table.blocks[index(group)];
    // From the end: of an unused prefix its tail is to be evicted first, for the head is of use without it.
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      if (*block < 0) continue;
      if (table.swapped) {
        free_slots_[index(group)].push_back(*block);
      } else {
        pool(group).release(*block);
      }
    }
  }
  if (table.prefix != nullptr) index_.unpin(table.prefix);
  if (table.root != nullptr) index_.unpin(table.root);
  table = KvTable{};
}

bool KvBlocks::swap_out(KvTable& table, std::vector<BlockSwap>& moves) {
  PAGODA_CHECK(table.open() && !table.swapped, "only a table on the device is swapped out");
  for (int group = 0; group < groups(); ++group) {
    const int held = static_cast<int>(table.blocks[index(group)].size()) - table.left_window[index(group)];
    if (held > free_swap_slots(group)) return false;
  }
  for (int group = 0; group < groups(); ++group) {
    auto& blocks = table.blocks[index(group)];
    for (size_t i = blocks.size(); i-- > index(table.left_window[index(group)]);) {
      const int slot = free_slots_[index(group)].back();
      free_slots_[index(group)].pop_back();
      moves.push_back({group, blocks[i], slot});
      pool(group).release(blocks[i]);
      blocks[i] = slot;
    }
  }
  // Its blocks of later are other blocks: they are indexed anew when they are back.
  if (table.prefix != nullptr) {
    index_.unpin(table.prefix);
    index_.pin(table.root);
    table.prefix = table.root;
    table.indexed_blocks = 0;
  }
  table.swapped = true;
  return true;
}

bool KvBlocks::swap_in(KvTable& table, std::vector<BlockSwap>& moves) {
  PAGODA_CHECK(table.swapped, "only a swapped table is swapped in");
  for (int group = 0; group < groups(); ++group) {
    const int held = static_cast<int>(table.blocks[index(group)].size()) - table.left_window[index(group)];
    if (held > available(group)) return false;
  }
  for (int group = 0; group < groups(); ++group) {
    auto& blocks = table.blocks[index(group)];
    for (size_t i = index(table.left_window[index(group)]); i < blocks.size(); ++i) {
      const int slot = blocks[i];
      blocks[i] = take_block(group);
      moves.push_back({group, blocks[i], slot});
      free_slots_[index(group)].push_back(slot);
    }
  }
  table.swapped = false;
  return true;
}

int KvBlocks::reach_in_step(const KvTable& table) const {
  int reach = std::numeric_limits<int>::max();
  for (int group = 0; group < groups(); ++group) {
    const int left = table.open() ? table.left_window[index(group)] : 0;
    reach = std::min(reach, (left + total(group)) * block_size_);
  }
  return reach;
}

int KvBlocks::missing(const KvTable& table, int group, int end, int step_tokens) const {
  const int size = table.open() ? static_cast<int>(table.blocks[index(group)].size()) : 0;
  const int left = table.open() ? table.left_window[index(group)] : 0;
  int most = blocks_for(end) - left;
  const int window = windows_[index(group)];
  if (window > 0) most = std::min(most, blocks_for(window + step_tokens) + 1);
  return std::max(0, most - (size - left));
}

int64_t KvBlocks::used_bytes() const {
  int64_t bytes = 0;
  for (int group = 0; group < groups(); ++group) bytes += pool(group).referenced() * block_bytes(group);
  return bytes;
}

double KvBlocks::usage() const {
  double used = 0, all = 0;
  for (int group = 0; group < groups(); ++group) {
    // A group without a size counts by its blocks.
    const double bytes = static_cast<double>(std::max<int64_t>(1, block_bytes(group)));
    used += bytes * pool(group).referenced();
    all += bytes * total(group);
  }
  return all > 0 ? used / all : 0;
}

double KvBlocks::waste_bytes(const KvTable& table, int computed) const {
  double bytes = 0;
  for (int group = 0; group < groups() && table.open() && !table.swapped; ++group) {
    const auto& blocks = table.blocks[index(group)];
    for (size_t i = index(computed / block_size_); i < blocks.size(); ++i) {
      if (blocks[i] < 0) continue;
      const int held = std::clamp(computed - static_cast<int>(i) * block_size_, 0, block_size_);
      bytes += static_cast<double>(block_bytes(group)) * (block_size_ - held) / block_size_ /
               pool(group).references(blocks[i]);
    }
  }
  return bytes;
}

}  // namespace pagoda::engine
