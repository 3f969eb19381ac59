#include "text/utf8.h"

#include <cstring>

namespace pagoda::text {
namespace {

struct LeadByte {
  int length;            // of the whole character; 0: no character begins so
  unsigned char lowest;  // of the second byte
  unsigned char highest;
};

// Table 3-7 of the Unicode standard: well-formed byte sequences.
LeadByte lead_byte(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

Utf8Char first_utf8_char(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const LeadByte lead = lead_byte(at(0));
  if (lead.length == 1) return {at(0), 1, true, false};
  if (lead.length == 0) return {0, 1, false, false};
  char32_t value = at(0) & (0x7Fu >> lead.length);
  for (int i = 1; i < lead.length; ++i) {
    if (static_cast<size_t>(i) >= bytes.size()) return {0, i, false, true};
    const unsigned char lowest = i == 1 ? lead.lowest : 0x80;
    const unsigned char highest = i == 1 ? lead.highest : 0xBF;
    if (at(i) < lowest || at(i) > highest) return {0, i, false, false};
    value = value << 6 | (at(i) & 0x3Fu);
  }
  return {value, lead.length, true, false};
}

size_t valid_utf8_prefix(std::string_view bytes) {
  size_t i = 0;
  while (i < bytes.size()) {
    uint64_t eight = 0;
    while (i + 8 <= bytes.size()) {
      std::memcpy(&eight, bytes.data() + i, 8);
      if ((eight & 0x8080808080808080u) != 0) break;
      i += 8;
    }
    if (i == bytes.size()) break;
    const Utf8Char character = first_utf8_char(bytes.substr(i));
    if (!character.valid) break;
    i += static_cast<size_t>(character.length);
  }
  return i;
}

bool is_white_space(char32_t c) {
  return (c >= 0x9 && c <= 0xD) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

std::string as_valid_utf8(std::string bytes) {
  std::string_view rest = bytes;
  size_t valid = valid_utf8_prefix(rest);
  if (valid == rest.size()) return bytes;
  std::string out;
  while (true) {
    out += rest.substr(0, valid);
    rest.remove_prefix(valid);
    if (rest.empty()) return out;
    out += kReplacementCharacter;
    rest.remove_prefix(static_cast<size_t>(first_utf8_char(rest).length));
    valid = valid_utf8_prefix(rest);
  }
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto byte = [&](char32_t value) { out += static_cast<char>(value); };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0 | code_point >> 6);
    byte(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    byte(0xE0 | code_point >> 12);
    byte(0x80 | (code_point >> 6 & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  } else {
    byte(0xF0 | code_point >> 18);
    byte(0x80 | (code_point >> 12 & 0x3F));
    byte(0x80 | (code_point >> 6 & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  }
}

}  // namespace pagoda::text
