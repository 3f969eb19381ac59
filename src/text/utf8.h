// UTF-8, byte by byte: what is whole, what is broken, what is only unfinished.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pagoda::text {

struct Utf8Char {
  char32_t code_point = 0;
  int length = 0;  // bytes; of a broken character: its maximal subpart, at least 1
  bool valid = false;
  bool unfinished = false;  // not valid, but more bytes could make it so
};

// The character at the beginning of `bytes`, which is not empty. Overlong forms, surrogates and values above
// U+10FFFF are broken; length is then that of the maximal subpart (Unicode 16, section 3.9, U+FFFD
// substitution).
Utf8Char first_utf8_char(std::string_view bytes);

// How many leading bytes are whole valid characters.
size_t valid_utf8_prefix(std::string_view bytes);

bool is_white_space(char32_t code_point);  // Unicode's property White_Space

void append_utf8(std::string& out, char32_t code_point);

// `bytes` with U+FFFD for each maximal subpart that is broken.
std::string as_valid_utf8(std::string bytes);

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

}  // namespace pagoda::text
