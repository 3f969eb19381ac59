#include "faults/event_log.h"

namespace pagoda::faults {

std::string EventLog::key_of(const FaultRow& fault, const Fields& fields) {
  std::string key(fault.id);
  std::string_view names = fault.key;
  while (!names.empty()) {
    const size_t space = names.find(' ');
    key += '\n';
    key += fields.get(names.substr(0, space));
    names = space == std::string_view::npos ? std::string_view() : names.substr(space + 1);
  }
  return key;
}

void EventLog::add(Event event) {
  const std::string key = key_of(*event.fault, event.fields);
  add(std::move(event), key);
}

void EventLog::add(Event event, std::string_view key) {
  event.order = next_order_++;
  auto place = by_key_.find(key);
  if (place == by_key_.end()) {
    if (groups_.size() >= kMostGroups) {
      ++dropped_;
      return;
    }
    place = by_key_.emplace(key, groups_.size()).first;
    groups_.push_back({event.fault, 0, {}, {}});
  }
  EventGroup& group = groups_[place->second];
  const size_t kept = place->second < kManyGroups ? kKept : kKeptOfMany;
  ++group.count;
  if (group.first.size() < kept) {
    group.first.push_back(std::move(event));
    return;
  }
  group.last.push_back(std::move(event));
  if (group.last.size() > kept) group.last.pop_front();
}

void EventLog::count_one_more(std::string_view key) {
  const auto place = by_key_.find(key);
  if (place == by_key_.end()) {
    ++dropped_;
  } else {
    ++groups_[place->second].count;
  }
}

}  // namespace pagoda::faults
