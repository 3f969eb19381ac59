#include "engine/prefix_index.h"

#include <algorithm>

#include "base/check.h"

namespace pagoda::engine {

namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

}  // namespace

bool PrefixIndex::Equal::same(const Probe& a, const Probe& b) {
  return a.hash == b.hash && a.parent == b.parent && std::ranges::equal(a.tokens, b.tokens);
}

PrefixIndex::Probe PrefixIndex::probe(const PrefixNode* parent, std::span<const int32_t> tokens) {
  // The parent's hash rather than its address: the order of nodes in memory must not matter to anything.
  uint64_t hash = parent->hash;
  for (const int32_t token : tokens) hash = mix(hash, static_cast<uint32_t>(token));
  return {parent, tokens, hash};
}

PrefixNode* PrefixIndex::pin_root(std::string_view name_space) {
  auto& root = roots_[std::string(name_space)];
  if (!root) {
    root = std::make_unique<PrefixNode>();
    root->name_space = name_space;
    root->hash = std::hash<std::string_view>{}(name_space);
  }
  ++root->uses;
  return root.get();
}

PrefixNode* PrefixIndex::find(PrefixNode* parent, std::span<const int32_t> tokens) const {
  const auto found = nodes_.find(probe(parent, tokens));
  return found == nodes_.end() ? nullptr : found->get();
}

PrefixNode* PrefixIndex::pin_child(PrefixNode* parent, std::span<const int32_t> tokens) {
  PAGODA_CHECK(static_cast<int>(tokens.size()) == block_size_, "a prefix node is one whole block");
  const Probe key = probe(parent, tokens);
  const auto found = nodes_.find(key);
  PrefixNode* node = found == nodes_.end() ? nullptr : found->get();
  if (node == nullptr) {
    auto made = std::make_unique<PrefixNode>();
    made->parent = parent;
    made->tokens.assign(tokens.begin(), tokens.end());
    made->hash = key.hash;
    made->blocks.assign(static_cast<size_t>(groups_), -1);
    node = made.get();
    nodes_.insert(std::move(made));
    ++parent->uses;
  }
  ++node->uses;
  return node;
}

void PrefixIndex::attach(PrefixNode* node, int group, int block) {
  PAGODA_CHECK(node->blocks[static_cast<size_t>(group)] < 0, "a prefix has one block per group");
  node->blocks[static_cast<size_t>(group)] = block;
  ++node->uses;
}

void PrefixIndex::detach(PrefixNode* node, int group) {
  node->blocks[static_cast<size_t>(group)] = -1;
  drop_use(node);
}

void PrefixIndex::drop_use(PrefixNode* node) {
  while (node != nullptr && --node->uses == 0) {
    PrefixNode* parent = node->parent;
    if (parent == nullptr) {
      roots_.erase(roots_.find(node->name_space));
    } else {
      nodes_.erase(nodes_.find(probe(parent, node->tokens)));
    }
    node = parent;
  }
}

}  // namespace pagoda::engine
