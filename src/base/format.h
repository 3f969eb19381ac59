// format(): fmt's, so that one name is used everywhere and <format> can replace it one day. What is
// implemented by fmt is compiled once, in fmt_implementation.cc; fmt::join and such need <fmt/format.h> in
// the file that uses them.
#pragma once

#include <fmt/core.h>

namespace pagoda {
using fmt::format;
}
