// Unicode's normal forms, to which some tokenizers bring a text before they cut it.
#pragma once

#include <string>
#include <string_view>

namespace pagoda::text {

enum class NormalForm {
  kC,   // composed
  kD,   // decomposed
  kKC,  // the compatibility forms: "ﬁ" is "fi", "²" is "2"
  kKD,
};

// False only when the text certainly is in form C already: it costs a glance at each byte.
bool may_need_nfc(std::string_view text);
// `text` is valid UTF-8. Linear in its length, whatever marks it piles up.
std::string to_normal_form(std::string_view text, NormalForm form);
inline std::string to_nfc(std::string_view text) {
  return to_normal_form(text, NormalForm::kC);
}

}  // namespace pagoda::text
