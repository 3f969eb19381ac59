#include "faults/evidence_text.h"

#include <algorithm>

#include "faults/finding.h"

namespace pagoda::faults {
namespace {

// Bytes of the UTF-8 character at `at`; 0 when there is none.
size_t character_bytes(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  if (length == 3) {
    const unsigned code = (lead & 0xfu) << 12 | (byte(at + 1) & 0x3fu) << 6;
    if (code < 0x800 || (code >= 0xd800 && code < 0xe000)) return 0;
  }
  if (length == 4) {
    const unsigned code = (lead & 7u) << 18 | (byte(at + 1) & 0x3fu) << 12;
    if (code < 0x10000 || code > 0x10ffff) return 0;
  }
  return length;
}

}  // namespace

std::string without_escapes(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    if (bytes[at] != '\x1b') {
      out += bytes[at++];
      continue;
    }
    ++at;
    if (at >= bytes.size() || bytes[at] != '[') continue;
    ++at;
    while (at < bytes.size() && !(bytes[at] >= '@' && bytes[at] <= '~')) ++at;
    if (at < bytes.size()) ++at;
  }
  return out;
}

std::string evidence_text(std::string_view bytes) {
  const bool plain = std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (plain && bytes.size() <= kEvidenceBytes && !bytes.ends_with(' ')) return std::string(bytes);
  std::string clean;
  if (bytes.find('\x1b') != std::string_view::npos)
    bytes = clean = without_escapes(bytes.substr(0, 4 * kEvidenceBytes));
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    if (out.size() + 8 > kEvidenceBytes) return out + "…";
    const size_t length = character_bytes(bytes, at);
    const auto byte = static_cast<unsigned char>(bytes[at]);
    if (length == 0) {
      out += "\xef\xbf\xbd";  // U+FFFD
    } else if (byte == '\t') {
      out += ' ';
    } else if (byte >= 0x20 && byte != 0x7f &&
               !(length == 2 && byte == 0xc2 && static_cast<unsigned char>(bytes[at + 1]) < 0xa0)) {
      out += bytes.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace pagoda::faults
