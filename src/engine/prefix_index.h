// Which prefixes of tokens have computed KV: a tree whose nodes are blocks of tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pagoda::engine {

// One whole block of tokens after its parent's prefix. A node is found by a hash of (parent, tokens) and then
// compared token by token, so equal nodes are equal prefixes by induction: a hash collision costs time only.
struct PrefixNode {
  PrefixNode* parent = nullptr;  // null for a root, which stands for the empty prefix of one name space
  std::vector<int32_t> tokens;
  uint64_t hash = 0;
  std::vector<int> blocks;  // per KV group the block that holds this content, or -1
  int uses = 0;             // children + blocks + pins; a node without any goes
  std::string name_space;   // of a root
};

// Name spaces separate prefixes that must not be shared: the cache salt, and whatever else changes KV content
// (adapter, KV dtype). Engine thread only.
class PrefixIndex {
 public:
  PrefixIndex(int groups, int block_size) : groups_(groups), block_size_(block_size) {}
  PrefixIndex(const PrefixIndex&) = delete;
  PrefixIndex& operator=(const PrefixIndex&) = delete;

  // The root of a name space, pinned for the caller.
  PrefixNode* pin_root(std::string_view name_space);
  // Null when unknown. tokens: one block.
  PrefixNode* find(PrefixNode* parent, std::span<const int32_t> tokens) const;
  // Pinned for the caller.
  PrefixNode* pin_child(PrefixNode* parent, std::span<const int32_t> tokens);
  void pin(PrefixNode* node) { ++node->uses; }
  void unpin(PrefixNode* node) { drop_use(node); }

  void attach(PrefixNode* node, int group, int block);
  void detach(PrefixNode* node, int group);

  size_t size() const { return nodes_.size(); }

 private:
  struct Probe {
    const PrefixNode* parent;
    std::span<const int32_t> tokens;
    uint64_t hash;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const std::unique_ptr<PrefixNode>& node) const { return node->hash; }
    size_t operator()(const Probe& probe) const { return probe.hash; }
  };
  struct Equal {
    using is_transparent = void;
    static Probe view(const std::unique_ptr<PrefixNode>& node) {
      return {node->parent, node->tokens, node->hash};
    }
    static const Probe& view(const Probe& probe) { return probe; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return same(view(a), view(b));
    }
    static bool same(const Probe& a, const Probe& b);
  };
  static Probe probe(const PrefixNode* parent, std::span<const int32_t> tokens);
  void drop_use(PrefixNode* node);

  const int groups_;
  const int block_size_;
  std::unordered_set<std::unique_ptr<PrefixNode>, Hash, Equal> nodes_;
  std::unordered_map<std::string, std::unique_ptr<PrefixNode>> roots_;
};

}  // namespace pagoda::engine
