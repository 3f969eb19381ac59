// Cuts text into the words inside which merges happen. Immutable, safe from any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pre_tokenizer_rules.h"
#include "text/unicode_regex.h"

namespace pagoda::text {

class PreTokenizer {
 public:
  static Result<PreTokenizer> make(const PreTokenizerRule& rule);
  // Appends the words of `text` (valid UTF-8), which together are the text.
  void split(std::string_view text, std::vector<std::string_view>& words) const;

 private:
  struct Step {
    SplitKind kind;
    UnicodeRegex regex;
  };
  std::vector<Step> steps_;
};

}  // namespace pagoda::text
