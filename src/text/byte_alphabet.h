// GPT-2's byte alphabet: each byte as a printable character, so that a vocabulary of bytes is a list of words
// (https://github.com/openai/gpt-2/blob/master/src/encoder.py, bytes_to_unicode).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pagoda::text {

// "Ġhello" → " hello". Nothing when a character is not of the alphabet.
std::optional<std::string> bytes_of_alphabet(std::string_view word);
std::string alphabet_of_bytes(std::string_view bytes);

}  // namespace pagoda::text
