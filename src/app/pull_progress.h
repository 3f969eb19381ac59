// How far a pull is: a bar that is drawn over on a terminal, a line now and then elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <thread>

#include "hub/pull.h"

namespace pagoda::app {

// "▕██████░░░░▏  43 %  1.2 of 2.8 GB  85 MB/s  0:19 left". The rate counts what came
// since it began; rate and time left are left out before anything came.
std::string progress_line(const hub::PullProgress& progress, int64_t bytes_done, double seconds,
                          int bar_width);

class PullProgressDisplay {
 public:
  explicit PullProgressDisplay(std::string model) : model_(std::move(model)) {}
  ~PullProgressDisplay();  // the last state stays on the screen
  PullProgressDisplay(const PullProgressDisplay&) = delete;
  PullProgressDisplay& operator=(const PullProgressDisplay&) = delete;

  // On stderr. `state` must live until this object ends or finish() returns.
  void begin(const hub::PullProgress& progress, const hub::DownloadState& state);
  void finish();

 private:
  void draw(const std::stop_token& stop);

  const std::string model_;
  hub::PullProgress progress_;
  const hub::DownloadState* state_ = nullptr;
  std::jthread drawer_;
};

}  // namespace pagoda::app
