// Base64 as RFC 4648 has it, with padding.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda {

std::string encode_base64(std::string_view bytes);
// Padding may be missing. kCorruptData names the first byte that does not belong.
Result<std::string> decode_base64(std::string_view text);

}  // namespace pagoda
