// The costly part of reading a log, without any state that goes from one block to the next: blocks of one
// text are recognised side by side, and TextScanner puts them together in their order.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "faults/finding.h"
#include "faults/pattern_matcher.h"

namespace pagoda::faults {

// A line that holds a known sentence, or may begin an output of nvidia-smi.
struct RecognisedLine {
  size_t begin = 0, end = 0;        // in the block, without the newline
  bool marked = false;              // it may begin an output
  const FaultRow* fault = nullptr;  // nullptr: none of its sentences is meant after all
  uint32_t key = 0;                 // in RecognisedBlock::keys
  // One of many equal ones in this block, neither among the first nor the last of them that EventLog keeps:
  // it is counted, and has no fields and no evidence.
  bool only_counted = false;
  LineTime when;     // without its text
  std::string time;  // as written
  Fields fields;
  std::string evidence;
};

struct RecognisedBlock {
  std::vector<RecognisedLine> lines;  // ascending
  std::vector<std::string> keys;      // EventLog::key_of()
};

// For one thread at a time.
class LineRecogniser {
 public:
  explicit LineRecogniser(const PatternMatcher& matcher);
  // The lines that end before `end`; what follows in `text` is for sentences that go on in the next lines.
  RecognisedBlock recognise(std::string_view text, size_t end);

 private:
  RecognisedLine read_line(std::string_view text, size_t begin, size_t line_end, size_t first_hit_at);
  void thin_out(std::string_view text, RecognisedBlock& block) const;

  const PatternMatcher& matcher_;
  const std::unique_ptr<PatternMatcher::Scratch> scratch_;
  std::vector<PatternMatcher::Hit> hits_;
  std::vector<uint32_t> rows_;
};

}  // namespace pagoda::faults
