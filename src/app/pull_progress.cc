#include "app/pull_progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>

#include "app/terminal.h"
#include "base/clock.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

constexpr int kBarWidth = 28;
constexpr double kRedraw_s = 0.1, kLine_s = 10;

// Decimal units, as hubs and disks count.
std::string decimal_bytes(double bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return unit == 0 ? format("{:.0f} {}", bytes, kUnits[unit]) : format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole >= 3600) return format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string progress_line(const hub::PullProgress& progress, int64_t bytes_done, double seconds,
                          int bar_width) {
  const double share =
      progress.bytes == 0 ? 1 : static_cast<double>(bytes_done) / static_cast<double>(progress.bytes);
  std::string line;
  if (bar_width > 0) {
    const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * bar_width);
    line = "▕";
    for (int i = 0; i < bar_width; ++i) line += i < full ? "█" : "░";
    line += "▏ ";
  }
  // Never 100 before the end.
  line += format("{:3} %  {} of {}", static_cast<int>(std::clamp(share, 0.0, 1.0) * 100),
                 decimal_bytes(static_cast<double>(bytes_done)),
                 decimal_bytes(static_cast<double>(progress.bytes)));
  const auto fetched = static_cast<double>(bytes_done - progress.bytes_here);
  if (fetched > 0 && seconds > 0) {
    line += format("  {}/s", decimal_bytes(fetched / seconds));
    const auto left = static_cast<double>(progress.bytes - bytes_done);
    if (left > 0) line += format("  {} left", clock_time(left / (fetched / seconds)));
  }
  return line;
}

void PullProgressDisplay::begin(const hub::PullProgress& progress, const hub::DownloadState& state) {
  progress_ = progress;
  state_ = &state;
  if (progress.files_missing == 0) return;
  fmt::print(stderr, "{}: {} of {} files to fetch, {}\n", model_, progress.files_missing, progress.files,
             decimal_bytes(static_cast<double>(progress.bytes - progress.bytes_here)));
  drawer_ = std::jthread([this](const std::stop_token& stop) { draw(stop); });
}

void PullProgressDisplay::draw(const std::stop_token& stop) {
  const bool terminal = is_terminal(STDERR_FILENO);
  const Stopwatch watch;
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  for (bool ending = false; !ending;) {
    wake.wait_for(lock, stop, std::chrono::duration<double>(terminal ? kRedraw_s : kLine_s),
                  [] { return false; });
    ending = stop.stop_requested();
    const std::string line =
        progress_line(progress_, state_->bytes_done, watch.seconds(), terminal ? kBarWidth : 0);
    // Clears to the line's end: the line before may have been longer.
    if (terminal) {
      fmt::print(stderr, "\r{}\x1b[K{}", line, ending ? "\n" : "");
    } else {
      fmt::print(stderr, "{}\n", line);
    }
    std::fflush(stderr);
  }
}

void PullProgressDisplay::finish() {
  if (!drawer_.joinable()) return;
  drawer_.request_stop();
  drawer_.join();
}

PullProgressDisplay::~PullProgressDisplay() {
  finish();
}

}  // namespace pagoda::app
