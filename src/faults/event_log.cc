#include "faults/event_log.h"

namespace pagoda::faults {
namespace {

std::string key_of(const Event& event) {
  std::string key(event.fault->id);
  std::string_view names = event.fault->key;
  while (!names.empty()) {
    const size_t space = names.find(' ');
    key += '\n';
    key += event.fields.get(names.substr(0, space));
    names = space == std::string_view::npos ? std::string_view() : names.substr(space + 1);
  }
  return key;
}

}  // namespace

void EventLog::add(Event event) {
  event.order = next_order_++;
  const auto [place, is_new] = by_key_.try_emplace(key_of(event), groups_.size());
  if (is_new && groups_.size() >= kMostGroups) {
    by_key_.erase(place);
    ++dropped_;
    return;
  }
  if (is_new) groups_.push_back({event.fault, 0, {}, {}});
  EventGroup& group = groups_[place->second];
  ++group.count;
  if (group.first.size() < kKept) {
    group.first.push_back(std::move(event));
    return;
  }
  group.last.push_back(std::move(event));
  if (group.last.size() > kKept) group.last.pop_front();
}

}  // namespace pagoda::faults
