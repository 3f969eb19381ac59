#include "app/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/format.h"

namespace pagoda::app {
namespace {

int code_of(Ink ink) {
  switch (ink) {
    case Ink::kBold:
      return 1;
    case Ink::kDim:
      return 2;
    case Ink::kRed:
      return 31;
    case Ink::kGreen:
      return 32;
    case Ink::kYellow:
      return 33;
    case Ink::kCyan:
      return 36;
  }
  return 0;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool is_terminal(int descriptor) {
  return ::isatty(descriptor) == 1;
}

Paint Paint::for_descriptor(int descriptor) {
  const char* kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return Paint(is_terminal(descriptor) && !is_set("NO_COLOR") && !dumb);
}

std::string Paint::operator()(Ink ink, std::string_view text) const {
  if (!colours_ || text.empty()) return std::string(text);
  return format("\x1b[{}m{}\x1b[0m", code_of(ink), text);
}

int terminal_width(int descriptor) {
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::clamp(static_cast<int>(size.ws_col), 60, 140) : 100;
}

}  // namespace pagoda::app
