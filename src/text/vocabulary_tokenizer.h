// What every tokenizer over a Vocabulary shares: added tokens come first, then the model's own way with the
// text between them.
#pragma once

#include <string>
#include <vector>

#include "text/added_token_trie.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace pagoda::text {

class VocabularyTokenizer : public Tokenizer {
 public:
  std::vector<int32_t> encode(std::string_view text, const EncodeOptions& options) const final;
  std::string decode(std::span<const int32_t> tokens, bool skip_special) const override;
  std::string_view piece(int32_t token) const final;
  int size() const final { return vocabulary_.size(); }
  TokenKind kind(int32_t token) const final;
  int32_t find(std::string_view piece) const final { return vocabulary_.find(piece); }
  int32_t bos() const final { return vocabulary_.bos(); }
  int32_t eos() const final { return vocabulary_.eos(); }
  const std::vector<int32_t>& end_tokens() const final { return vocabulary_.end_tokens(); }
  bool adds_bos() const final { return vocabulary_.adds_bos(); }

 protected:
  // `strip_after_special`: white space that follows an added token belongs to it and is dropped (Phi-3).
  VocabularyTokenizer(Vocabulary vocabulary, bool strip_after_special);
  // Appends the tokens of a text without added tokens; not empty, not necessarily UTF-8.
  virtual void encode_text(std::string_view text, std::vector<int32_t>& out) const = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
  AddedTokenTrie all_added_;     // control, unknown and user-defined
  AddedTokenTrie user_defined_;  // what is found even where special tokens are plain text
  bool strip_after_special_;
};

}  // namespace pagoda::text
