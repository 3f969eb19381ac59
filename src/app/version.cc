#include "app/version.h"

namespace pagoda::app {
std::string_view version() {
  return PAGODA_VERSION;
}
}  // namespace pagoda::app
