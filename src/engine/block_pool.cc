#include "engine/block_pool.h"

#include "base/check.h"

namespace pagoda::engine {

BlockPool::BlockPool(int blocks) : blocks_(static_cast<size_t>(blocks)) {
  free_.reserve(blocks_.size());
  for (int block = blocks - 1; block >= 0; --block) free_.push_back(block);
}

int BlockPool::allocate() {
  PAGODA_CHECK(!free_.empty(), "allocate() needs a free block");
  const int block = free_.back();
  free_.pop_back();
  at(block).references = 1;
  return block;
}

void BlockPool::add_reference(int block) {
  if (at(block).references == 0) unlink_cached(block);
  ++at(block).references;
}

void BlockPool::release(int block) {
  PAGODA_CHECK(at(block).references > 0, "a block is released once per reference");
  if (--at(block).references > 0) return;
  if (at(block).content != nullptr) {
    append_cached(block);
  } else {
    free_.push_back(block);
  }
}

void BlockPool::forget_content(int block) {
  at(block).content = nullptr;
  if (at(block).references > 0) return;
  unlink_cached(block);
  free_.push_back(block);
}

void BlockPool::append_cached(int block) {
  at(block).older = newest_;
  at(block).newer = -1;
  if (newest_ >= 0) at(newest_).newer = block;
  newest_ = block;
  if (oldest_ < 0) oldest_ = block;
  ++cached_;
}

void BlockPool::unlink_cached(int block) {
  const int older = at(block).older;
  const int newer = at(block).newer;
  (older >= 0 ? at(older).newer : oldest_) = newer;
  (newer >= 0 ? at(newer).older : newest_) = older;
  --cached_;
}

}  // namespace pagoda::engine
