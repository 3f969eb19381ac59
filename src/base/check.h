// PAGODA_CHECK: what only a programmer's error can break. Prints the condition and place, then aborts.
#pragma once

namespace pagoda {
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const char* message);
}

#define PAGODA_CHECK(condition, message)                               \
  do {                                                                 \
    if (!(condition)) [[unlikely]]                                     \
      ::pagoda::check_failed(#condition, __FILE__, __LINE__, message); \
  } while (0)
