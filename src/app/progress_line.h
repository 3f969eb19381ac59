// One line on stderr that says how far something is and how long it takes still: redrawn in place on a
// terminal, a line for every tenth of the way elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace pagoda::app {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // leaves the terminal on a line of its own

  void show(int64_t done, int64_t total, std::string_view at);

 private:
  const bool terminal_;
  Stopwatch since_start_;
  double drawn_s_ = -1;
  int tenths_ = -1;
};

// "[#####     ] 50 %  blk.3.ffn_up.weight  12 s left"; `width` columns at most.
std::string progress_text(int64_t done, int64_t total, std::string_view at, double seconds, int width);

}  // namespace pagoda::app
