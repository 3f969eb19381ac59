// The pre-tokenizers that tokenizer.ggml.pre names, as facts: how a text is cut into the words inside which
// byte-pair merges happen. Source: the models' own tokenizer.json files; where only llama.cpp's adaptation of
// a pattern is known, that.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pagoda::text {

enum class SplitKind {
  kIsolate,       // each match is a word, and so is each gap between matches
  kEachDigit,     // each numeric character is a word (the pattern is not used)
  kDigitTriples,  // each match is a run of digits, cut into threes from its right end
  kByteDigits,    // each run of bytes that GPT-2's alphabet writes as numeric characters is a word (no
                  // pattern); of ASCII digits, every three. Words are bytes afterwards: only as the last step
};

struct SplitStep {
  SplitKind kind;
  std::string_view pattern;  // in the reference's syntax, as far as PCRE2 shares it
};

struct PreTokenizerRule {
  std::string_view name;
  std::span<const SplitStep> steps;  // each cuts the words that the one before left
  bool nfc = false;                  // the text is brought to Unicode's normal form C first
  bool whole_words_first = false;    // a word that is a token is that token, whatever the merges say
  bool add_bos = false;              // where the metadata does not say
};

std::span<const PreTokenizerRule> pre_tokenizer_rules();
// nullptr when the name is not known.
const PreTokenizerRule* find_pre_tokenizer_rule(std::string_view name);
// "bloom, chatglm-bpe, …", for messages.
std::string known_pre_tokenizers();

}  // namespace pagoda::text
