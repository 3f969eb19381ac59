#include "faults/fault_watch.h"

#include <algorithm>
#include <set>

#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

// What of a story may change without being noise.
std::string substance_of(const Story& story) {
  std::set<std::string_view> ids;
  for (const Finding& finding : story.findings) ids.insert(finding.fault->id);
  std::string text(name_of(story.severity));
  for (const std::string_view id : ids) (text += ' ') += id;
  return text;
}

}  // namespace

std::string_view name_of(Transition::Kind kind) {
  switch (kind) {
    case Transition::Kind::kAppeared:
      return "appeared";
    case Transition::Kind::kChanged:
      return "changed";
    case Transition::Kind::kCleared:
      return "cleared";
  }
  return "?";
}

std::string identity_of(const Story& story) {
  const Finding& root = story.findings.front();
  std::string identity(root.fault->id);
  for (const std::string_view name : words_of(root.fault->key)) {
    identity += '\n';
    identity += root.fields.get(name);
  }
  return identity;
}

std::vector<Transition> FaultWatch::update(const Report& report, WallTime now) {
  std::vector<Transition> transitions;
  for (auto& [identity, entry] : entries_) ++entry.absent;
  for (const Story& story : report.stories) {
    const auto [place, is_new] = entries_.try_emplace(identity_of(story));
    Entry& entry = place->second;
    const bool changed = !is_new && substance_of(entry.watched.story) != substance_of(story);
    if (is_new) entry.watched.since = now;
    entry.absent = 0;
    entry.watched.last_seen = now;
    entry.watched.story = story;
    if (is_new || changed)
      transitions.push_back(
          {is_new ? Transition::Kind::kAppeared : Transition::Kind::kChanged, entry.watched});
  }
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->second.absent < kClearAfter) {
      ++entry;
      continue;
    }
    transitions.push_back({Transition::Kind::kCleared, std::move(entry->second.watched)});
    entry = entries_.erase(entry);
  }
  return transitions;
}

std::vector<WatchedStory> FaultWatch::current() const {
  std::vector<WatchedStory> stories;
  for (const auto& [identity, entry] : entries_) stories.push_back(entry.watched);
  std::stable_sort(stories.begin(), stories.end(), [](const WatchedStory& a, const WatchedStory& b) {
    return a.story.severity > b.story.severity;
  });
  return stories;
}

void EventMemory::add(Event event, WallTime logged_at) {
  if (events_.size() >= kMost) events_.pop_front();
  events_.emplace_back(logged_at, std::move(event));
}

void EventMemory::forget(WallTime now) {
  std::erase_if(events_, [&](const auto& entry) { return now - entry.first > age_; });
}

}  // namespace pagoda::faults
