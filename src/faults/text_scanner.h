// Reads one source as it streams by: sentences of logs become events, outputs of nvidia-smi become readings.
// Memory does not grow with the source. A long one is read by several threads (block_pipeline.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "faults/block_pipeline.h"
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
  void put_block(size_t end, bool alone);
  bool read_next_block();
  void read_all_blocks();
  size_t read_section_line(std::string_view own, size_t from);
  void end_section();
  void hand_on_snapshot();
  size_t read_recognised(TextBlock& block, size_t from, RecognisedLine& line);
  void add_event(std::string_view whole, RecognisedLine& line, std::string_view key);
  void note_kind(std::string_view kind);

  BlockPipeline blocks_;
  Records& records_;
  SourceSummary summary_;
  TextKind kind_ = TextKind::kEmpty;
  bool kind_is_known_ = false;
  std::vector<std::string> kinds_;
  std::string buffer_;  // not yet in a block
  int64_t line_ = 1;    // number of the line that begins the unread part
  std::unique_ptr<SmiSection> section_;
  double boot_seconds_ = 0;
  int boot_ = 0;
};

}  // namespace pagoda::faults
