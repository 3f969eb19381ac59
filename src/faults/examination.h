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
  ~Examination();

  // A file, a folder, an archive or "-"; may be called for several.
  Status read(const std::string& path);
  // A text that is there already.
  void read_text(const std::string& name, std::string_view text);
  // Something seen by other means than a text.
  void add(Event event);
  void add(const Snapshot& snapshot, const std::string& source);
  // What could not be looked at, and why.
  void add_gap(std::string gap);
  void add_observation(Observation observation);

  Report conclude();

 private:
  explicit Examination(std::unique_ptr<PatternMatcher> matcher);
  class Receiver;

  std::unique_ptr<PatternMatcher> matcher_;
  Records records_;
  Report report_;
};

}  // namespace pagoda::faults
