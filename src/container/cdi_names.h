// What names the CDI specification allows.
#pragma once

#include <string_view>

#include "base/result.h"

namespace pagoda::container {

// "vendor.com/class": letters, digits, - _ . within, a letter first, a letter or digit last.
Status check_cdi_kind(std::string_view kind);
// Letters, digits, - _ . : within, a letter or digit first and last.
Status check_cdi_device_name(std::string_view name);

}  // namespace pagoda::container
