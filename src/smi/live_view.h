// `--watch` as text: what the screen shows of the machine now and of the minutes before, for any size of
// screen.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "driver/gpu_snapshot.h"

namespace pagoda::smi {

enum class Tone { kPlain, kHead, kDim, kGood, kWarm, kHot };
struct LiveLine {
  std::string text;  // UTF-8, at most as wide as the screen
  Tone tone = Tone::kPlain;
};

// The last values of each GPU, for sparklines. Absent ones leave a gap.
class LiveHistory {
 public:
  struct Series {
    std::deque<int> utilization, memory;  // percent; -1: none
  };
  void add(const driver::MachineSnapshot& machine);
  const Series& of(unsigned gpu) const;

 private:
  static constexpr size_t kKept = 600;
  std::map<unsigned, Series> series_;
};

unsigned live_sections();
std::vector<LiveLine> live_view(const driver::MachineSnapshot& machine, const LiveHistory& history, int width,
                                int height);

// The newest `width` values as bars of eight heights; a gap where there was none.
std::string sparkline(const std::deque<int>& percents, int width);
// "[████▌     ] 45%".
std::string bar(int percent, int width);

}  // namespace pagoda::smi
