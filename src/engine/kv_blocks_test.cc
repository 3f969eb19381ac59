#include "engine/kv_blocks.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

namespace pagoda::engine {
namespace {

constexpr int kBlock = 4;

KvCapacity capacity(std::vector<int> blocks, std::vector<int> windows = {}, int swap = 0) {
  KvCapacity result;
  result.block_size = kBlock;
  for (size_t group = 0; group < blocks.size(); ++group) {
    model::KvGroup shape;
    shape.window = group < windows.size() ? windows[group] : 0;
    result.layout.push_back(shape);
    result.swap_blocks.push_back(swap);
    result.block_bytes.push_back(1024);
  }
  result.blocks = std::move(blocks);
  return result;
}

std::vector<int32_t> counted(int tokens, int32_t first = 0) {
  std::vector<int32_t> result(static_cast<size_t>(tokens));
  std::iota(result.begin(), result.end(), first);
  return result;
}

// A sequence that computes `tokens` in one go.
int compute(KvBlocks& kv, KvTable& table, const std::vector<int32_t>& tokens,
            std::string_view name_space = "") {
  std::vector<BlockCopy> copies;
  const int found = kv.open(table, tokens, name_space, true);
  EXPECT_TRUE(kv.extend(table, found, static_cast<int>(tokens.size()), copies));
  kv.computed(table, tokens, static_cast<int>(tokens.size()));
  return found;
}

TEST(KvBlocks, FindsTheLongestPrefixAndLeavesTheLastTokenToCompute) {
  KvBlocks kv(capacity({16}), true);
  KvTable first, second, third;
  const auto tokens = counted(12);
  EXPECT_EQ(compute(kv, first, tokens), 0);
  EXPECT_EQ(kv.open(second, tokens, "", true), 8);  // 12 would leave nothing to compute
  EXPECT_EQ(second.blocks[0][0], first.blocks[0][0]);
  EXPECT_EQ(kv.available(0), 13);
  auto longer = counted(13);
  longer[5] = 99;
  EXPECT_EQ(kv.open(third, longer, "", true), 4);
  for (KvTable* table : {&first, &second, &third}) kv.release(*table);
  EXPECT_EQ(kv.available(0), 16);
}

TEST(KvBlocks, NothingIsFindableBeforeItIsComputed) {
  KvBlocks kv(capacity({16}), true);
  KvTable first, second;
  std::vector<BlockCopy> copies;
  const auto tokens = counted(12);
  kv.open(first, tokens, "", true);
  ASSERT_TRUE(kv.extend(first, 0, 12, copies));
  EXPECT_EQ(kv.open(second, tokens, "", true), 0);
  kv.release(second);
  kv.computed(first, tokens, 7);
  EXPECT_EQ(kv.open(second, tokens, "", true), 4);
}

TEST(KvBlocks, NameSpacesDoNotShare) {
  KvBlocks kv(capacity({16}), true);
  KvTable a, b, c;
  const auto tokens = counted(9);
  compute(kv, a, tokens, "salt");
  EXPECT_EQ(kv.open(b, tokens, "other", true), 0);
  EXPECT_EQ(kv.open(c, tokens, "salt", true), 8);
}

TEST(KvBlocks, CachedBlocksAreFreeAndTheLeastRecentlyUsedGoesFirstTailBeforeHead) {
  KvBlocks kv(capacity({6}), true);
  KvTable old_one, new_one, third;
  compute(kv, old_one, counted(8, 0));
  compute(kv, new_one, counted(8, 100));
  kv.release(old_one);
  kv.release(new_one);
  EXPECT_EQ(kv.available(0), 6);
  EXPECT_EQ(kv.used_bytes(), 0);
  // Two blocks are free, so the third one evicted is the tail of the older prefix.
  compute(kv, third, counted(12, 200));
  KvTable probe;
  EXPECT_EQ(kv.open(probe, counted(9, 0), "", true), 4);
  kv.release(probe);
  EXPECT_EQ(kv.open(probe, counted(9, 100), "", true), 8);
  kv.release(probe);
  kv.release(third);
}

TEST(KvBlocks, AnEvictedMiddleIsFilledInAgain) {
  KvBlocks kv(capacity({3}), true);
  KvTable a, b;
  compute(kv, a, counted(12));
  kv.release(a);
  // Takes one block: the tail's.
  compute(kv, b, counted(2, 50));
  kv.release(b);
  EXPECT_EQ(compute(kv, a, counted(12)), 8);
  kv.release(a);
  KvTable probe;
  EXPECT_EQ(kv.open(probe, counted(13), "", true), 12);
}

TEST(KvBlocks, RecentlyFreedBlocksAreReusedFirst) {
  KvBlocks kv(capacity({8}), false);
  KvTable a, b;
  compute(kv, a, counted(7));
  const auto blocks = a.blocks[0];
  kv.release(a);
  compute(kv, b, counted(7));
  EXPECT_EQ(std::set<int>(b.blocks[0].begin(), b.blocks[0].end()),
            std::set<int>(blocks.begin(), blocks.end()));
}

TEST(KvBlocks, ForkSharesAndTheFirstWriteCopiesThePartlyFilledBlock) {
  KvBlocks kv(capacity({16}), true);
  KvTable parent, child, third;
  std::vector<BlockCopy> copies;
  auto tokens = counted(6);
  compute(kv, parent, tokens);
  kv.fork(parent, child);
  kv.fork(parent, third);
  EXPECT_EQ(kv.available(0), 14);
  EXPECT_DOUBLE_EQ(kv.waste_bytes(parent, 6) + kv.waste_bytes(child, 6) + kv.waste_bytes(third, 6), 512);
  const int shared = parent.blocks[0][1];
  ASSERT_TRUE(kv.extend(parent, 6, 7, copies));
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].from, shared);
  EXPECT_EQ(copies[0].to, parent.blocks[0][1]);
  ASSERT_TRUE(kv.extend(child, 6, 7, copies));
  ASSERT_TRUE(kv.extend(third, 6, 7, copies));
  EXPECT_EQ(copies.size(), 2u);  // the last one keeps the block
  EXPECT_EQ(third.blocks[0][1], shared);
  EXPECT_EQ(parent.blocks[0][0], child.blocks[0][0]);
  for (KvTable* table : {&parent, &child, &third}) kv.release(*table);
  EXPECT_EQ(kv.available(0), 16);
}

TEST(KvBlocks, ExtendIsAllOrNothing) {
  KvBlocks kv(capacity({4, 2}), true);
  KvTable table;
  std::vector<BlockCopy> copies;
  const auto tokens = counted(20);
  kv.open(table, tokens, "", true);
  EXPECT_FALSE(kv.extend(table, 0, 12, copies));
  EXPECT_EQ(kv.available(0), 4);
  EXPECT_EQ(kv.available(1), 2);
  EXPECT_EQ(kv.reach_in_step(table), 8);
  EXPECT_EQ(kv.reach_at_length(), 8);
}

TEST(KvBlocks, WindowGroupsLetGoOfBlocksThatNoTokenSees) {
  KvBlocks kv(capacity({16, 4}, {0, 6}), true);
  EXPECT_EQ(kv.reach_at_length(), 64);
  KvTable table;
  std::vector<BlockCopy> copies;
  const auto tokens = counted(64);
  kv.open(table, tokens, "", true);
  for (int position = 0; position < 64; ++position) {
    ASSERT_TRUE(kv.extend(table, position, position + 1, copies)) << position;
    kv.computed(table, tokens, position + 1);
    // What the next token sees is there; what no one sees is not.
    for (int i = 0; i < (position + 1 + kBlock - 1) / kBlock; ++i) {
      const bool visible = (i + 1) * kBlock > position + 1 - 6 + 1;
      EXPECT_EQ(table.blocks[1][static_cast<size_t>(i)] >= 0, visible) << position << " " << i;
    }
  }
  kv.release(table);
  EXPECT_EQ(kv.available(1), 4);
}

TEST(KvBlocks, APrefixCountsOnlyWhereTheWindowIsStillHeld) {
  KvBlocks kv(capacity({32, 6}, {0, 8}), true);
  KvTable first, other, probe;
  std::vector<BlockCopy> copies;
  const auto tokens = counted(24);
  kv.open(first, tokens, "", true);
  for (int end = 4; end <= 24; end += 4) {
    ASSERT_TRUE(kv.extend(first, end - 4, end, copies));
    kv.computed(first, tokens, end);
  }
  kv.release(first);
  EXPECT_EQ(kv.open(probe, counted(25), "", true), 24);
  EXPECT_EQ(probe.blocks[1][3], -1);
  EXPECT_GE(probe.blocks[1][4], 0);
  kv.release(probe);
  // Another sequence takes window blocks: those of the prefix's early part are the least recently used.
  compute(kv, other, counted(12, 500));
  EXPECT_EQ(kv.open(probe, counted(25), "", true), 24);
  kv.release(probe);
  KvTable more;
  compute(kv, more, counted(12, 700));
  EXPECT_EQ(kv.open(probe, counted(25), "", true), 0);
  kv.release(probe);
  kv.release(other);
  kv.release(more);
}

TEST(KvBlocks, SwapsWholeTablesAndRefusesWithoutRoom) {
  KvBlocks kv(capacity({8}, {}, 3), true);
  KvTable table, big;
  std::vector<BlockSwap> out, in;
  compute(kv, big, counted(16));
  EXPECT_FALSE(kv.swap_out(big, out));
  EXPECT_TRUE(out.empty());
  kv.release(big);
  compute(kv, table, counted(10, 50));
  const auto blocks = table.blocks[0];
  ASSERT_TRUE(kv.swap_out(table, out));
  EXPECT_EQ(out.size(), 3u);
  EXPECT_EQ(kv.available(0), 8);
  EXPECT_EQ(kv.free_swap_slots(0), 0);
  std::set<std::pair<int, int>> moved;
  for (size_t i = 0; i < 3; ++i) moved.insert({blocks[i], table.blocks[0][i]});
  for (const BlockSwap& move : out) EXPECT_TRUE(moved.contains({move.block, move.slot}));
  ASSERT_TRUE(kv.swap_in(table, in));
  EXPECT_EQ(in.size(), 3u);
  EXPECT_EQ(kv.free_swap_slots(0), 3);
  kv.release(table);
  EXPECT_EQ(kv.available(0), 8);
}

TEST(KvBlocks, ASwappedTableGivesItsSlotsBack) {
  KvBlocks kv(capacity({8}, {}, 3), true);
  KvTable table;
  std::vector<BlockSwap> out;
  compute(kv, table, counted(10));
  ASSERT_TRUE(kv.swap_out(table, out));
  kv.release(table);
  EXPECT_EQ(kv.free_swap_slots(0), 3);
  EXPECT_EQ(kv.available(0), 8);
}

TEST(KvBlocks, TheIndexForgetsWhatNoBlockHolds) {
  KvBlocks kv(capacity({4}), true);
  for (int round = 0; round < 50; ++round) {
    KvTable table;
    compute(kv, table, counted(16, round * 1000), std::to_string(round));
    kv.release(table);
  }
  EXPECT_LE(kv.indexed_prefixes(), 4u);
}

// Random operations; after each, every block is referenced by exactly the tables that name it.
TEST(KvBlocks, ReferencesAreConserved) {
  std::mt19937 random(7);
  KvBlocks kv(capacity({20, 9}, {0, 6}, 12), true);
  struct Live {
    KvTable table;
    std::vector<int32_t> tokens;
    int computed = 0;
  };
  std::vector<Live> live;
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 20000; ++round) {
    std::vector<BlockCopy> copies;
    std::vector<BlockSwap> moves;
    const int action = pick(7);
    if (live.size() < 6 && action < 2) {
      Live one;
      one.tokens = counted(1 + pick(20), 100 * pick(3));
      one.computed = kv.open(one.table, one.tokens, pick(2) != 0 ? "a" : "b", true);
      live.push_back(std::move(one));
    } else if (!live.empty()) {
      const size_t i = static_cast<size_t>(pick(static_cast<int>(live.size())));
      Live& one = live[i];
      if (one.table.swapped) {
        if (action == 5) kv.swap_in(one.table, moves);
        if (action == 6) kv.release(one.table), live.erase(live.begin() + static_cast<long>(i));
      } else if (action < 5) {
        const int end = std::min(one.computed + 1 + pick(6), one.computed + 40);
        while (static_cast<int>(one.tokens.size()) < end) one.tokens.push_back(pick(3));
        if (end < 60 && kv.extend(one.table, one.computed, end, copies)) {
          one.computed = end;
          kv.computed(one.table, one.tokens, end);
          EXPECT_LE(kv.waste_bytes(one.table, end), 2 * 1024);
        } else {
          kv.release(one.table);
          live.erase(live.begin() + static_cast<long>(i));
        }
      } else if (action == 5) {
        kv.swap_out(one.table, moves);
      } else if (live.size() < 6) {
        Live child;
        kv.fork(one.table, child.table);
        child.tokens = one.tokens;
        child.computed = one.computed;
        live.push_back(std::move(child));
      }
    }
    for (int group = 0; group < 2; ++group) {
      std::set<int> blocks;
      int slots = 0;
      for (const Live& one : live) {
        for (const int block : one.table.blocks[static_cast<size_t>(group)]) {
          if (block >= 0 && !one.table.swapped) blocks.insert(block);
          if (block >= 0 && one.table.swapped) ++slots;
        }
      }
      ASSERT_EQ(kv.available(group), kv.total(group) - static_cast<int>(blocks.size())) << round;
      ASSERT_EQ(kv.free_swap_slots(group), 12 - slots);
    }
  }
  for (Live& one : live) kv.release(one.table);
  EXPECT_EQ(kv.available(0), 20);
  EXPECT_EQ(kv.available(1), 9);
}

}  // namespace
}  // namespace pagoda::engine
