// The program's version, as CMake's project() states it.
#pragma once

#include <string_view>

namespace pagoda::app {
std::string_view version();
}
