#include "text/byte_alphabet.h"

#include <array>

#include "text/utf8.h"

namespace pagoda::text {
namespace {

constexpr int kAlphabetEnd = 0x144;  // 256 + the 68 bytes that have no printable Latin-1 character

struct Alphabet {
  std::array<char32_t, 256> character_of_byte{};
  std::array<int, kAlphabetEnd> byte_of_character{};

  Alphabet() {
    byte_of_character.fill(-1);
    char32_t next = 256;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      const char32_t character = printable ? static_cast<char32_t>(byte) : next++;
      character_of_byte[static_cast<size_t>(byte)] = character;
      byte_of_character[character] = byte;
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet instance;
  return instance;
}

}  // namespace

std::optional<std::string> bytes_of_alphabet(std::string_view word) {
  std::string bytes;
  while (!word.empty()) {
    const Utf8Char character = first_utf8_char(word);
    if (!character.valid || character.code_point >= kAlphabetEnd) return std::nullopt;
    const int byte = alphabet().byte_of_character[character.code_point];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    word.remove_prefix(static_cast<size_t>(character.length));
  }
  return bytes;
}

std::string alphabet_of_bytes(std::string_view bytes) {
  std::string word;
  for (const char byte : bytes) {
    append_utf8(word, alphabet().character_of_byte[static_cast<unsigned char>(byte)]);
  }
  return word;
}

}  // namespace pagoda::text
