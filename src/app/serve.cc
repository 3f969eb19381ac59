#include "app/serve.h"

#include "base/format.h"

namespace pagoda::app {

int serve(const ServeOptions&, const std::filesystem::path& model) {
  fmt::print(stderr, "pagoda serve: {} cannot be served: the engine is not part of this build\n",
             model.string());
  return 1;
}

}  // namespace pagoda::app
