// The data of reference_characters.cc.
#pragma once

#include "text/unicode_classes.h"

namespace pagoda::text {

// Each in ascending order.
extern const CodePointRange kPunctuation[];
extern const int kPunctuationCount;
extern const CodePointRange kControlOrUnassigned[];
extern const int kControlOrUnassignedCount;
extern const CodePointRange kNonspacingMarks[];
extern const int kNonspacingMarksCount;
extern const CodePointRange kCombiningMarks[];
extern const int kCombiningMarksCount;
extern const CodePointRange kWordCharacters[];
extern const int kWordCharactersCount;
// To utf8proc they have a compatibility decomposition, to the reference they have none.
extern const CodePointRange kInertForCompatibility[];
extern const int kInertForCompatibilityCount;

// Where the lowercase is not utf8proc's; the second character is 0 where there is only one.
struct LowerRow {
  char32_t upper, first, second;
};
extern const LowerRow kLowerRows[];
extern const int kLowerRowCount;

}  // namespace pagoda::text
