// Reads one source as it streams by: sentences of logs become events, outputs of nvidia-smi become readings.
// Memory does not grow with the source.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "faults/event_log.h"
#include "faults/finding.h"
#include "faults/machine_record.h"
#include "faults/pattern_matcher.h"
#include "faults/smi_section.h"
#include "faults/text_kind.h"

namespace pagoda::faults {

// What all sources of one examination fill.
struct Records {
  EventLog events;
  MachineRecord machine;
  bool has_kernel_log = false;  // so that what is not in it was not logged
};

class TextScanner {
 public:
  // All three outlive the scanner.
  TextScanner(const PatternMatcher& matcher, Records& records, std::string source_name);
  ~TextScanner();

  // Returns false when the rest need not be read (it is no text).
  bool feed(std::string_view bytes);
  void finish();
  SourceSummary summary() const;

 private:
  void read_block(size_t end);
  size_t read_section_line(size_t from, size_t end);
  void end_section();
  void hand_on_snapshot();
  size_t read_hit_line(std::string_view block, size_t from, size_t& hit);
  void read_line(std::string_view line, size_t first_hit_at, size_t line_end);
  std::string joined_sentence(std::string_view line, size_t line_end) const;
  void add_event(const FaultRow* fault, Fields fields, std::string_view line);
  void note_kind(std::string_view kind);
  std::string_view window_of(std::string_view line, size_t at) const;

  const PatternMatcher& matcher_;
  Records& records_;
  SourceSummary summary_;
  TextKind kind_ = TextKind::kEmpty;
  bool kind_is_known_ = false;
  std::vector<std::string> kinds_;
  std::string buffer_;
  int64_t line_ = 1;  // number of the line that begins the unread part
  std::unique_ptr<SmiSection> section_;
  std::vector<PatternMatcher::Hit> hits_;
  std::vector<uint32_t> rows_;
  double boot_seconds_ = 0;
  int boot_ = 0;
};

}  // namespace pagoda::faults
