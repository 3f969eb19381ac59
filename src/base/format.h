// format(): fmt's, so that one name is used everywhere and <format> can replace it one day.
#pragma once

#include <fmt/format.h>

namespace pagoda {
using fmt::format;
}
