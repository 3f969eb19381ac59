#include "text/stop_automaton.h"

namespace pagoda::text {

StopAutomaton::StopAutomaton(std::vector<std::string> strings) : strings_(std::move(strings)) {
  nodes_.emplace_back();
  for (size_t i = 0; i < strings_.size(); ++i) insert(i);
  link();
}

const StopAutomaton::State* StopAutomaton::child(State state, unsigned char byte) const {
  for (const auto& [own, node] : nodes_[state].children) {
    if (own == byte) return &node;
  }
  return nullptr;
}

void StopAutomaton::insert(size_t index) {
  State state = kStart;
  for (const char c : strings_[index]) {
    const auto byte = static_cast<unsigned char>(c);
    if (const State* existing = child(state, byte)) {
      state = *existing;
      continue;
    }
    const auto made = static_cast<State>(nodes_.size());
    nodes_[state].children.emplace_back(byte, made);
    nodes_.emplace_back().depth = nodes_[state].depth + 1;
    state = made;
  }
  if (state != kStart && nodes_[state].match < 0) nodes_[state].match = static_cast<int32_t>(index);
}

// Breadth first: a node's fallback is shallower than itself and therefore finished.
void StopAutomaton::link() {
  std::vector<State> queue = {kStart};
  for (size_t i = 0; i < queue.size(); ++i) {
    const State state = queue[i];
    Node& node = nodes_[state];
    const Node& fallback = nodes_[node.fallback];
    if (state != kStart) {
      if (node.match < 0) node.match = fallback.match;
      node.open = node.children.empty() ? fallback.open : node.depth;
    }
    for (const auto& [byte, below] : node.children) {
      nodes_[below].fallback = state == kStart ? kStart : next(node.fallback, byte);
      queue.push_back(below);
    }
  }
}

StopAutomaton::State StopAutomaton::next(State state, unsigned char byte) const {
  while (true) {
    if (const State* below = child(state, byte)) return *below;
    if (state == kStart) return kStart;
    state = nodes_[state].fallback;
  }
}

std::string_view StopAutomaton::match(State state) const {
  const int32_t index = nodes_[state].match;
  return index < 0 ? std::string_view() : std::string_view(strings_[static_cast<size_t>(index)]);
}

}  // namespace pagoda::text
