#include "text/pipeline/precompiled_charsmap.h"

#include <utf8proc.h>

#include <cstring>

#include "base/base64.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

// Darts' units.
bool has_leaf(uint32_t unit) {
  return (unit >> 8 & 1) == 1;
}
uint32_t value_of(uint32_t unit) {
  return unit & ((1u << 31) - 1);
}
uint32_t label_of(uint32_t unit) {
  return unit & ((1u << 31) | 0xFF);
}
uint32_t offset_of(uint32_t unit) {
  return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}

// Bytes of the user-perceived character at the beginning.
size_t grapheme_length(std::string_view text) {
  Utf8Char before = first_utf8_char(text);
  auto at = static_cast<size_t>(before.length);
  utf8proc_int32_t state = 0;
  while (at < text.size()) {
    const Utf8Char next = first_utf8_char(text.substr(at));
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before.code_point),
                                         static_cast<utf8proc_int32_t>(next.code_point), &state))
      break;
    at += static_cast<size_t>(next.length);
    before = next;
  }
  return at;
}

constexpr size_t kLongestGrapheme = 6;  // bytes; longer ones are replaced character by character

}  // namespace

Result<std::unique_ptr<NormalizerStep>> PrecompiledCharsmap::make(const std::string& base64) {
  PAGODA_ASSIGN(const std::string bytes, decode_base64(base64));
  return make_from_bytes(bytes);
}

Result<std::unique_ptr<NormalizerStep>> PrecompiledCharsmap::make_from_bytes(std::string_view bytes) {
  auto made = std::make_unique<PrecompiledCharsmap>();
  if (bytes.empty()) return made;
  uint32_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (size == 0 || size % sizeof(uint32_t) != 0 || size > bytes.size() - sizeof size)
    return fail(ErrorCode::kCorruptData,
                "the tokenizer's precompiled_charsmap is broken: its trie is cut off");
  made->trie_.resize(size / sizeof(uint32_t));
  std::memcpy(made->trie_.data(), bytes.data() + sizeof size, size);
  made->replacements_ = bytes.substr(sizeof size + size);
  made->replacements_ += '\0';
  return made;
}

const char* PrecompiledCharsmap::replacement(std::string_view chunk) const {
  size_t node = 0;
  const auto unit = [&](size_t i) { return i < trie_.size() ? trie_[i] : 0; };
  node ^= offset_of(unit(node));
  for (const char c : chunk) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) return nullptr;
    node ^= byte;
    const uint32_t at = unit(node);
    if (node >= trie_.size() || label_of(at) != byte) return nullptr;
    node ^= offset_of(at);
    if (!has_leaf(at)) continue;
    const uint32_t index = value_of(unit(node));
    return index < replacements_.size() ? replacements_.data() + index : nullptr;
  }
  return nullptr;
}

std::string PrecompiledCharsmap::apply(std::string text) const {
  if (trie_.empty()) return text;
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view grapheme = rest.substr(0, grapheme_length(rest));
    rest.remove_prefix(grapheme.size());
    const char* whole = grapheme.size() < kLongestGrapheme ? replacement(grapheme) : nullptr;
    if (whole != nullptr) {
      out += whole;
      continue;
    }
    for (size_t at = 0; at < grapheme.size();) {
      const auto length = static_cast<size_t>(first_utf8_char(grapheme.substr(at)).length);
      const char* part = replacement(grapheme.substr(at, length));
      out += part != nullptr ? std::string_view(part) : grapheme.substr(at, length);
      at += length;
    }
  }
  return out;
}

}  // namespace pagoda::text
