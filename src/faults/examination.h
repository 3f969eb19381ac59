// One examination: sources are read, then it is concluded what is wrong. For one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "faults/finding.h"
#include "faults/text_scanner.h"

namespace pagoda::faults {

class Examination {
 public:
  static Result<std::unique_ptr<Examination>> begin();
  // With a matcher that serves several examinations, one after another.
  static std::unique_ptr<Examination> begin(std::shared_ptr<const PatternMatcher> matcher);
  ~Examination();

  // A file, a folder, an archive or "-"; may be called for several.
  Status read(const std::string& path);
  // A text that is there already.
  void read_text(const std::string& name, std::string_view text);
  // Something seen by other means than a text.
  void add(Event event);
  // One of several reports of the same GPUs: kept, not judged.
  void record(const Snapshot& snapshot);
  // A report that stands for several: judged, not kept.
  void judge(const Snapshot& snapshot, const std::string& source);
  void add_activity(std::string_view gpu, std::vector<ProcessActivity> processes,
                    const NetworkActivity& network);
  // The kernel's log is read elsewhere, so that what is not in it was not logged.
  void note_kernel_log() { records_.has_kernel_log = true; }
  // What could not be looked at, and why.
  void add_gap(std::string gap);
  void add_observation(Observation observation);

  Report conclude();

 private:
  explicit Examination(std::shared_ptr<const PatternMatcher> matcher);
  class Receiver;

  std::shared_ptr<const PatternMatcher> matcher_;
  Records records_;
  Report report_;
};

}  // namespace pagoda::faults
