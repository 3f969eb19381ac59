#include "faults/nccl_watchdog.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>

#include "base/format.h"
#include "faults/fault_catalogue.h"
#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

constexpr int kMostSilentNamed = 8;

struct Rank {
  int64_t rank = 0, seq = 0;
  std::string op, collective;  // collective: op and size
  const Event* event = nullptr;
};

int64_t integer(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<Rank> read_ranks(const std::vector<const EventGroup*>& groups) {
  std::vector<Rank> ranks;
  for (const EventGroup* group : groups) {
    const Event& event = group->first.front();
    Rank rank;
    rank.rank = integer(event.fields.get("rank"));
    rank.seq = integer(event.fields.get("seq"));
    rank.op = event.fields.get("op");
    rank.collective = rank.op + " " + std::string(event.fields.get("numel"));
    rank.event = &event;
    ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) { return a.rank < b.rank; });
  return ranks;
}

// The step that most ranks wait in; of equals the later one.
int64_t usual_step(const std::vector<Rank>& ranks) {
  std::map<int64_t, int> count;
  for (const Rank& rank : ranks) ++count[rank.seq];
  const auto most = std::max_element(count.begin(), count.end(),
                                     [](const auto& a, const auto& b) { return a.second <= b.second; });
  return most->first;
}

void make_finding(Finding& finding, std::string_view id) {
  finding.fault = find_fault(id);
  finding.severity = finding.fault->severity;
  finding.confidence = finding.fault->confidence;
  for (const std::string_view key : words_of(finding.fault->remedies)) finding.remedies.emplace_back(key);
}

void name_laggards(Finding& finding, const std::vector<Rank>& ranks, int64_t least) {
  make_finding(finding, "nccl-lagging-rank");
  std::vector<Rank> others;
  std::string names;
  std::vector<Event> late;
  for (const Rank& rank : ranks) {
    if (rank.seq != least) {
      others.push_back(rank);
      continue;
    }
    names += (names.empty() ? "" : ", ") + std::to_string(rank.rank);
    late.push_back(*rank.event);
    finding.fields.set("op", rank.op);
  }
  const int64_t usual = usual_step(others), behind = usual - least;
  finding.fields.set("rank", names);
  finding.fields.set("seq", std::to_string(least));
  finding.fields.set("seq_others", std::to_string(usual));
  finding.fields.set("behind", behind == 1 ? "one collective" : format("{} collectives", behind));
  late.push_back(*others.front().event);
  finding.events = std::move(late);
}

// Ranks between the first and the last that say nothing.
void name_silent(Finding& finding, const std::vector<Rank>& ranks) {
  std::set<int64_t> known;
  for (const Rank& rank : ranks) known.insert(rank.rank);
  std::string names;
  int count = 0;
  for (int64_t rank = 0; rank < *known.rbegin() && count <= kMostSilentNamed; ++rank) {
    if (known.contains(rank)) continue;
    names += (names.empty() ? "" : ", ") + std::to_string(rank);
    ++count;
  }
  if (count == 0 || count > kMostSilentNamed) {
    finding.fields.set("same", ": the network or a hang, no single rank lags");
    return;
  }
  finding.fields.set("rank_silent", names);
  finding.fields.set("rank", names);
  finding.remedies.insert(finding.remedies.begin(), "look-at-rank");
}

}  // namespace

std::optional<Finding> judge_watchdogs(const std::vector<const EventGroup*>& groups) {
  if (groups.empty()) return std::nullopt;
  const std::vector<Rank> ranks = read_ranks(groups);
  Finding finding;
  finding.count = static_cast<int64_t>(ranks.size());
  for (const Rank& rank : ranks) {
    if (finding.events.size() < 2 * EventLog::kKept) finding.events.push_back(*rank.event);
  }
  finding.fields.set("seq", std::to_string(ranks.front().seq));
  finding.fields.set("op", ranks.front().op);
  finding.fields.set("ranks", std::to_string(ranks.size()));
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end(),
                                                 [](const Rank& a, const Rank& b) { return a.seq < b.seq; });
  std::set<std::string> collectives;
  for (const Rank& rank : ranks) collectives.insert(rank.collective);
  if (ranks.size() == 1) {
    make_finding(finding, "nccl-timeout-one");
    finding.fields.set("rank", std::to_string(ranks.front().rank));
  } else if (least->seq != most->seq) {
    name_laggards(finding, ranks, least->seq);
  } else if (collectives.size() > 1) {
    make_finding(finding, "nccl-mismatched-collective");
    std::string ops;
    for (const std::string& collective : collectives) ops += (ops.empty() ? "" : " against ") + collective;
    finding.fields.set("ops", ops);
  } else {
    make_finding(finding, "nccl-timeout");
    name_silent(finding, ranks);
  }
  std::stable_sort(finding.events.begin(), finding.events.end(),
                   [](const Event& a, const Event& b) { return a.order < b.order; });
  return finding;
}

}  // namespace pagoda::faults
