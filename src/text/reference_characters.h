// Classes of characters as the reference tokenizers know them, each by the Unicode version that its part of
// them uses. The tables are asked from the package itself (tools/make_reference_characters.py).
#pragma once

#include <string>

namespace pagoda::text {

bool is_punctuation(char32_t c);  // ASCII's too, as BertPreTokenizer and Punctuation have it
bool is_control_or_unassigned(char32_t c);
bool is_nonspacing_mark(char32_t c);
bool is_combining_mark(char32_t c);
bool is_word_character(char32_t c);  // of the pre-tokenizer Whitespace, and of single_word

// Appends the lowercase of one character: "İ" has two.
void append_lower(std::string& out, char32_t c);

}  // namespace pagoda::text
