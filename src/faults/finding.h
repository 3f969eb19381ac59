// What doctor says: findings with their evidence, linked into stories of one cause and its consequences.
// Plain data; wording comes from the tables (fault_row.h, remedies.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faults/fault_row.h"
#include "faults/fields.h"
#include "faults/line_time.h"

namespace pagoda::faults {

// The very line on which a finding stands.
struct Evidence {
  std::string source;  // file name as given; "kernel log", "/proc/…" for a live machine
  int64_t line = 0;    // from 1; 0: the source has no lines
  std::string time;    // as written in the line; empty: it has none
  std::string text;    // valid UTF-8, without control characters, at most kEvidenceBytes
};
inline constexpr size_t kEvidenceBytes = 600;

// One recognised line or reading.
struct Event {
  const FaultRow* fault = nullptr;
  Fields fields;
  Evidence evidence;
  LineTime when;
  int64_t order = 0;  // in which it was read, over all sources
};

struct Finding {
  const FaultRow* fault = nullptr;
  Severity severity = Severity::kNote;  // the row's, unless the evidence says better
  Confidence confidence = Confidence::kMedium;
  bool drain = false;
  Fields fields;                      // of the first event, and count, times
  std::string cause;                  // one sentence, no full stop
  std::vector<std::string> remedies;  // keys of remedies.h, in order
  int64_t count = 0;                  // events
  std::vector<Event> events;          // the first and the last of them, in order
};

// A command to run, or a thing to do when `command` is empty.
struct Action {
  std::string text;
  std::string command;
};

struct Story {
  Severity severity = Severity::kNote;  // the worst of its findings
  Confidence confidence = Confidence::kMedium;
  bool drain = false;
  std::string gpu;    // PCI address without function, or "GPU 3"; empty: the node's
  std::string cause;  // the root's, then its consequences
  std::vector<Action> actions;
  std::vector<Finding> findings;  // the root first
};

// What was seen of something that is well.
struct Observation {
  Step step = Step::kLoad;
  std::string subject;  // "GPUs 0–7: NVIDIA H100 80GB HBM3"
  std::string text;     // "compute-bound, at its power cap as designed (0x4)"
};

// What was read, and how far.
struct SourceSummary {
  std::string name;
  std::string kind;  // "kernel log", "nvidia-smi table", …; several joined by ", "
  int64_t lines = 0;
  int64_t bytes = 0;
  std::string remark;  // "the archive ends early: …"; empty: nothing
};

struct Report {
  std::vector<Story> stories;  // worst first
  std::vector<Observation> observations;
  std::vector<SourceSummary> sources;
  std::vector<std::string> gaps;  // what could not be looked at, and why
  Severity severity() const;      // the worst story's; kNone without stories
};

}  // namespace pagoda::faults
