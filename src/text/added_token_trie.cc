#include "text/added_token_trie.h"

#include <algorithm>

namespace pagoda::text {

AddedTokenTrie::AddedTokenTrie(std::vector<Entry> entries) {
  std::erase_if(entries, [](const Entry& entry) { return entry.text.empty(); });
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.text < b.text; });
  // Level by level: spans[i] are the entries below nodes_[i], which agree in their first `depth` bytes.
  struct Span {
    size_t begin, end, depth;
  };
  std::vector<Span> spans = {{0, entries.size(), 0}};
  nodes_.emplace_back();
  for (size_t node = 0; node < spans.size(); ++node) {
    auto [begin, end, depth] = spans[node];
    if (begin < end && entries[begin].text.size() == depth) nodes_[node].token = entries[begin].token;
    while (begin < end && entries[begin].text.size() == depth) ++begin;
    nodes_[node].first_child = static_cast<uint32_t>(nodes_.size());
    while (begin < end) {
      const char byte = entries[begin].text[depth];
      size_t group_end = begin;
      while (group_end < end && entries[group_end].text[depth] == byte) ++group_end;
      spans.push_back({begin, group_end, depth + 1});
      nodes_.emplace_back().byte = static_cast<unsigned char>(byte);
      ++nodes_[node].children;
      begin = group_end;
    }
  }
  for (uint32_t i = 0; i < nodes_[0].children; ++i) {
    const uint32_t node = nodes_[0].first_child + i;
    from_root_[nodes_[node].byte] = node;
  }
}

uint32_t AddedTokenTrie::child(uint32_t node, unsigned char byte) const {
  const Node* first = nodes_.data() + nodes_[node].first_child;
  const Node* last = first + nodes_[node].children;
  const Node* found =
      std::lower_bound(first, last, byte, [](const Node& n, unsigned char b) { return n.byte < b; });
  return found != last && found->byte == byte ? static_cast<uint32_t>(found - nodes_.data()) : 0;
}

AddedTokenTrie::Match AddedTokenTrie::find(std::string_view text, size_t from) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    uint32_t node = from_root_[static_cast<unsigned char>(text[begin])];
    Match match;
    for (size_t i = begin + 1; node != 0; ++i) {
      if (nodes_[node].token >= 0) match = {begin, i - begin, nodes_[node].token};
      if (i == text.size()) break;
      node = child(node, static_cast<unsigned char>(text[i]));
    }
    if (match.token >= 0) return match;
  }
  return {};
}

}  // namespace pagoda::text
