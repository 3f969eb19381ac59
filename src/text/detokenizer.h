// Token ids of one answer → text, piece by piece, never half a character.
#pragma once

#include <string>

#include "text/tokenizer.h"

namespace pagoda::text {

class Detokenizer {
 public:
  // The tokenizer must outlive it.
  Detokenizer(const Tokenizer& tokenizer, bool skip_special);
  // What became complete with this token: whole UTF-8 characters, possibly none yet. Bytes that can become no
  // character are U+FFFD each maximal subpart, as the reference decodes them.
  std::string accept(int32_t token);
  // What is still held back, once no token will come: incomplete bytes become U+FFFD.
  std::string flush();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  std::string held_;  // an unfinished character's first bytes, at most 3
};

}  // namespace pagoda::text
