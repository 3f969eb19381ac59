// One compiled regular expression over valid UTF-8: PCRE2 with its JIT, character classes as the reference
// tokenizers have them (unicode_classes.h). Immutable, safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::text {

class UnicodeRegex {
 public:
  struct Match {
    size_t begin = 0;
    size_t end = 0;  // of an empty match equal to begin
    bool found = false;
  };

  static Result<UnicodeRegex> compile(std::string_view pattern);
  UnicodeRegex(UnicodeRegex&&) noexcept;
  UnicodeRegex& operator=(UnicodeRegex&&) noexcept;
  ~UnicodeRegex();

  // The first match from byte `from` on; `text` is valid UTF-8 and `from` a character's first byte.
  // Where the pattern needs more than its bounded stack for a match, it does not match there.
  Match find(std::string_view text, size_t from) const;

 private:
  struct Program;
  explicit UnicodeRegex(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;
};

}  // namespace pagoda::text
