// Unicode's normal form C, which some tokenizers bring a text to before they cut it.
#pragma once

#include <string>
#include <string_view>

namespace pagoda::text {

// False only when the text certainly is in form C already: it costs a glance at each byte.
bool may_need_nfc(std::string_view text);
// `text` is valid UTF-8. Linear in its length, whatever marks it piles up.
std::string to_nfc(std::string_view text);

}  // namespace pagoda::text
