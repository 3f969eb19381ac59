// What an OCI runtime tells a hook on its standard input, and where the container's root is.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::container {

// `state`: the JSON of the runtime specification ("bundle": folder). The root is root.path of the bundle's
// config.json; a relative one is the bundle's.
Result<std::string> root_of_state(std::string_view state);

}  // namespace pagoda::container
