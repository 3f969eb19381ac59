#include "faults/stories.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/format.h"
#include "faults/diagnosis.h"
#include "faults/event_reader.h"
#include "faults/fault_catalogue.h"
#include "faults/link_rules.h"
#include "faults/story_actions.h"

namespace pagoda::faults {
namespace {

// Kinds whose consequences are told only as such: an unlinked PCIe error names no GPU.
void demote_unexplained_port(Finding& finding, const Records& records) {
  if (finding.fault->id != "aer-uncorrected" && finding.fault->id != "aer-surprise-down") return;
  if (records.machine.find(short_address(finding.fields.get("port"))) != nullptr) return;
  for (const Event& event : finding.events) {
    if (event.evidence.text.find("nvidia ") != std::string::npos) return;
  }
  finding.fault = find_fault("aer-uncorrected-elsewhere");
  finding.severity = finding.fault->severity;
  finding.confidence = finding.fault->confidence;
  finding.drain = false;
  finding.remedies = {"look-at-port"};
  word(finding);
}

// An off-bus GPU without a PCIe error in a kernel log that is there: the link is not to blame. Corrected
// errors anywhere above it are too few for a finding and too many for an acquittal.
void acquit_link(Story& story, const Records& records) {
  const Finding& root = story.findings.front();
  if (root.fault->id != "xid-79" || !records.has_kernel_log) return;
  bool elsewhere = false;
  for (const EventGroup& group : records.events.groups()) {
    if (!group.fault->id.starts_with("aer-")) continue;
    const std::string_view port = group.first.front().fields.get("port");
    if (group.fault->id == "aer-corrected-many" && may_be_upstream(port, root.fields.get("gpu"))) return;
    elsewhere = true;
  }
  story.cause += elsewhere ? "; no PCIe error of its own link was logged, so the link is not accused"
                           : "; no PCIe error was logged, so the link is not accused";
}

bool is_told_with_others(Kind kind) {
  constexpr std::array kKinds = {Kind::kDriver,  Kind::kHeat,   Kind::kPower,
                                 Kind::kReading, Kind::kFabric, Kind::kSetup};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

// The place of the story's root: follows causes, within bounds should the rules ever make a ring.
size_t root_of(const std::vector<std::optional<size_t>>& causes, size_t finding) {
  for (size_t step = 0; step < causes.size() && causes[finding]; ++step) finding = *causes[finding];
  return finding;
}

std::string gpu_of(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    const std::string_view gpu = finding.fields.get("gpu");
    if (!gpu.empty() && gpu != "of unknown address" && gpu != "?") return std::string(gpu);
  }
  const std::string_view index = findings.front().fields.get("gpu_index");
  return std::string(index);
}

void add_phrases(Story& story) {
  std::vector<std::string> told;
  for (size_t i = 1; i < story.findings.size(); ++i) {
    const Finding& finding = story.findings[i];
    std::string phrase = finding.fault == story.findings.front().fault
                             ? format("the same on GPU {}", finding.fields.get("gpu"))
                             : fill(finding.fault->as_consequence, finding.fields);
    if (phrase.empty() || std::find(told.begin(), told.end(), phrase) != told.end()) continue;
    if (told.size() >= 12) continue;
    story.cause += "; " + phrase;
    told.push_back(std::move(phrase));
  }
}

Story tell(std::vector<Finding> findings, const Records& records) {
  Story story;
  story.findings = std::move(findings);
  const Finding& root = story.findings.front();
  story.cause = root.cause;
  story.confidence = root.confidence;
  for (const Finding& finding : story.findings) {
    story.severity = std::max(story.severity, finding.severity);
    story.drain = story.drain || finding.drain;
  }
  // A cause with its consequences is surer than either alone.
  if (story.findings.size() > 1 && story.confidence == Confidence::kMedium)
    story.confidence = Confidence::kHigh;
  story.gpu = gpu_of(story.findings);
  acquit_link(story, records);
  add_phrases(story);
  story.actions = actions_of(story.findings);
  return story;
}

bool is_worse(const Story& a, const Story& b) {
  if (a.severity != b.severity) return a.severity > b.severity;
  if (a.confidence != b.confidence) return a.confidence > b.confidence;
  return order_of(a.findings.front()) < order_of(b.findings.front());
}

}  // namespace

std::vector<Story> tell_stories(std::vector<Finding> findings, const Records& records) {
  const auto causes = find_causes(findings);
  std::vector<size_t> roots;
  std::vector<std::vector<size_t>> members(findings.size());
  for (size_t i = 0; i < findings.size(); ++i) {
    const size_t root = root_of(causes, i);
    if (root != i) members[root].push_back(i);
  }
  for (size_t i = 0; i < findings.size(); ++i) {
    if (causes[i]) continue;
    const auto same = std::find_if(roots.begin(), roots.end(), [&](size_t root) {
      return findings[root].fault == findings[i].fault && is_told_with_others(findings[i].fault->kind);
    });
    if (same == roots.end()) {
      roots.push_back(i);
    } else {
      members[*same].push_back(i);
      members[*same].insert(members[*same].end(), members[i].begin(), members[i].end());
    }
  }
  std::vector<Story> stories;
  for (const size_t root : roots) {
    if (members[root].empty()) demote_unexplained_port(findings[root], records);
    std::vector<Finding> told = {findings[root]};
    for (const size_t member : members[root]) told.push_back(findings[member]);
    stories.push_back(tell(std::move(told), records));
  }
  std::stable_sort(stories.begin(), stories.end(), is_worse);
  return stories;
}

}  // namespace pagoda::faults
