// Where the reference tokenizers' Unicode is newer than PCRE2's: the code points to add to a class of a
// pattern.
#pragma once

#include <iterator>
#include <string>
#include <string_view>

namespace pagoda::text {

struct UnicodeClassRow {
  std::string_view name;    // as in a pattern after the backslash: "p{L}"
  std::string_view ranges;  // in the syntax of a character class
};
extern const UnicodeClassRow kUnicodeClassRows[];
extern const int kUnicodeClassRowCount;
extern const char kWhiteSpace[];  // what \s is to the reference: Unicode's White_Space
extern const char
    kNewerNumbers[];  // for the splitting of digits, which follows a still newer Unicode than \p{N}

struct CodePointRange {
  char32_t first;
  char32_t last;
};
// To utf8proc they decompose or combine, to the reference they do neither. In ascending order.
extern const CodePointRange kInertCodePoints[];
extern const int kInertCodePointRangeCount;

// `pattern` with \s, \S (only outside of brackets) and \p{…} spelled out so that PCRE2 decides as the
// reference.
std::string spell_out_classes(std::string_view pattern);

}  // namespace pagoda::text
