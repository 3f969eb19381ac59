#include "app/smi_watch.h"

#define NCURSES_NOMACROS  // functions, not macros named erase and timeout
#include <locale.h>
#include <ncurses.h>
#include <unistd.h>

#include "app/terminal.h"
#include "base/format.h"
#include "smi/live_view.h"

namespace pagoda::app {
namespace {

constexpr int kIntervalMs = 1000;

// The screen while it lives; the terminal as it was afterwards.
class Screen {
 public:
  Screen() {
    ::setlocale(LC_ALL, "");
    ::initscr();
    ::cbreak();
    ::noecho();
    ::curs_set(0);
    ::timeout(kIntervalMs);
    if (::has_colors() == FALSE) return;
    ::start_color();
    ::use_default_colors();
    ::init_pair(1, COLOR_GREEN, -1);
    ::init_pair(2, COLOR_YELLOW, -1);
    ::init_pair(3, COLOR_RED, -1);
  }
  ~Screen() { ::endwin(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void show(const std::vector<smi::LiveLine>& lines) const {
    ::erase();
    for (size_t row = 0; row < lines.size(); ++row) {
      const auto look = look_of(lines[row].tone);
      ::attron(look);
      ::mvaddstr(static_cast<int>(row), 0, lines[row].text.c_str());
      ::attroff(look);
    }
    ::refresh();
  }

  // Waits an interval for a key; true when the person wants to end.
  static bool ended() {
    const int key = ::getch();
    return key == 'q' || key == 'Q' || key == 27;
  }

 private:
  static int look_of(smi::Tone tone) {
    switch (tone) {
      case smi::Tone::kHead:
        return A_BOLD;
      case smi::Tone::kDim:
        return A_DIM;
      case smi::Tone::kGood:
        return COLOR_PAIR(1);
      case smi::Tone::kWarm:
        return COLOR_PAIR(2);
      case smi::Tone::kHot:
        return COLOR_PAIR(3) | A_BOLD;
      case smi::Tone::kPlain:
        break;
    }
    return A_NORMAL;
  }
};

}  // namespace

int run_smi_watch(const SmiSession& session) {
  if (!is_terminal(STDOUT_FILENO) || !is_terminal(STDIN_FILENO)) {
    fmt::print("--watch needs a terminal; `-l 1` prints again and again.\n");
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  smi::LiveHistory history;
  const Screen screen;
  // The wait for a key is the interval.
  session.repeat(std::chrono::milliseconds(0), 0, [&] {
    const auto machine = session.read(smi::live_sections());
    history.add(machine);
    screen.show(smi::live_view(machine, history, COLS, LINES));
    return !Screen::ended();
  });
  return session.report_lost();
}

}  // namespace pagoda::app
