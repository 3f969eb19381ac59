// The tokens of a tokenizer.json that are looked for in the text itself, before and after it is normalised,
// each with its own rules about what may stand beside it. Immutable, safe from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/added_token_trie.h"
#include "text/pipeline/json_part.h"
#include "text/pipeline/normalizer.h"

namespace pagoda::text {

struct AddedToken {
  int32_t id = -1;
  std::string content;
  bool special = false;                          // left out of plain text, and of text that asks for none
  bool single_word = false;                      // not inside a word
  bool left_strip = false, right_strip = false;  // takes the white space beside it
  bool normalized = false;                       // looked for in the normalised text
};

class AddedTokens {
 public:
  static Result<AddedTokens> make(const Json& list, const Normalizer& normalizer);

  // Calls with what the text consists of, in order: an added token's id, or -1 and a normalised piece of
  // text, which is never empty. `parse_special`: special tokens count too.
  using Take = std::function<void(int32_t token, std::string piece, bool begins_the_text)>;
  void cut(std::string_view text, const Normalizer& normalizer, bool parse_special, const Take& take) const;

  const AddedToken* find(int32_t id) const;
  const std::vector<AddedToken>& all() const { return tokens_; }

 private:
  struct Part {
    int32_t token;
    std::string_view text;
  };
  struct Finder {
    std::deque<std::string> contents;
    std::vector<AddedTokenTrie> with_special, without_special;  // one each
  };
  std::vector<Part> parts_of(std::string_view text, const AddedTokenTrie& trie) const;
  Finder finder_of(bool normalized, const Normalizer& normalizer) const;

  std::vector<AddedToken> tokens_;
  Finder raw_, normalized_;
};

}  // namespace pagoda::text
