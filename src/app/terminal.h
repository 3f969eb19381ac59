// What a person's terminal can show: colour only where one looks, and nowhere when NO_COLOR is set.
#pragma once

#include <string>
#include <string_view>

namespace pagoda::app {

enum class Ink { kBold, kDim, kRed, kGreen, kYellow, kCyan };

// Wraps text in escape sequences, or leaves it as it is.
class Paint {
 public:
  explicit Paint(bool colours) : colours_(colours) {}
  // Colours when `descriptor` is a terminal, NO_COLOR is unset or empty (https://no-color.org) and TERM is
  // not "dumb".
  static Paint for_descriptor(int descriptor);

  bool colours() const { return colours_; }
  std::string operator()(Ink ink, std::string_view text) const;

 private:
  bool colours_;
};

bool is_terminal(int descriptor);
// Columns of the terminal behind `descriptor`, else 100; within [60, 140].
int terminal_width(int descriptor);

}  // namespace pagoda::app
