#include "app/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/terminal.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

constexpr int kBarColumns = 24;
constexpr double kRedrawInterval_s = 0.1;

std::string time_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  return whole < 60 ? format("{} s", whole) : format("{} min {:02} s", whole / 60, whole % 60);
}

}  // namespace

std::string progress_text(int64_t done, int64_t total, std::string_view at, double seconds, int width) {
  const double share =
      total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 1;
  const int filled = static_cast<int>(share * kBarColumns);
  std::string text = format("[{}{}] {:3.0f} %", std::string(static_cast<size_t>(filled), '#'),
                            std::string(static_cast<size_t>(kBarColumns - filled), ' '), 100 * share);
  text += done >= total ? format("  {}", time_text(seconds)) : format("  {}", at);
  if (done > 0 && done < total) text += format("  {} left", time_text(seconds / share - seconds));
  return text.substr(0, static_cast<size_t>(std::max(width, 1)));
}

ProgressLine::ProgressLine() : terminal_(is_terminal(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  if (terminal_ && drawn_s_ >= 0) std::fputc('\n', stderr);
}

void ProgressLine::show(int64_t done, int64_t total, std::string_view at) {
  const double now = since_start_.seconds();
  if (!terminal_) {
    const int tenths = total > 0 ? static_cast<int>(10 * done / total) : 10;
    if (tenths == tenths_) return;
    tenths_ = tenths;
    fmt::print(stderr, "{}\n", progress_text(done, total, at, now, 200));
    return;
  }
  if (done < total && drawn_s_ >= 0 && now - drawn_s_ < kRedrawInterval_s) return;
  drawn_s_ = now;
  fmt::print(stderr, "\r\033[K{}", progress_text(done, total, at, now, terminal_width(STDERR_FILENO) - 1));
  std::fflush(stderr);
}

}  // namespace pagoda::app
