#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace pagoda {

void check_failed(const char* condition, const char* file, int line, const char* message) {
  std::fprintf(stderr, "pagoda: internal error at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace pagoda
