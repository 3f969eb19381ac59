#include "text/reference_characters.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/reference_characters_table.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

bool is_in(const CodePointRange* ranges, int count, char32_t c) {
  const CodePointRange* end = ranges + count;
  const CodePointRange* range = std::lower_bound(
      ranges, end, c, [](const CodePointRange& r, char32_t value) { return r.last < value; });
  return range != end && range->first <= c;
}

}  // namespace

bool is_punctuation(char32_t c) {
  return is_in(kPunctuation, kPunctuationCount, c);
}

bool is_control_or_unassigned(char32_t c) {
  return c == 0 || is_in(kControlOrUnassigned, kControlOrUnassignedCount, c);
}

bool is_nonspacing_mark(char32_t c) {
  return is_in(kNonspacingMarks, kNonspacingMarksCount, c);
}

bool is_combining_mark(char32_t c) {
  return is_in(kCombiningMarks, kCombiningMarksCount, c);
}

bool is_word_character(char32_t c) {
  return is_in(kWordCharacters, kWordCharactersCount, c);
}

void append_lower(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    return;
  }
  const LowerRow* end = kLowerRows + kLowerRowCount;
  const LowerRow* row =
      std::lower_bound(kLowerRows, end, c, [](const LowerRow& r, char32_t value) { return r.upper < value; });
  if (row == end || row->upper != c)
    return append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  append_utf8(out, row->first);
  if (row->second != 0) append_utf8(out, row->second);
}

}  // namespace pagoda::text
