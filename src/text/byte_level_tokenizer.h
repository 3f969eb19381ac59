// Byte-level BPE (tokenizer.ggml.model "gpt2"): text is cut into words, each word's bytes merge by ranked
// pairs.
#pragma once

#include <memory>

#include "text/known_words.h"
#include "text/merge_table.h"
#include "text/pre_tokenizer.h"
#include "text/vocabulary_tokenizer.h"

namespace pagoda::text {

class ByteLevelTokenizer final : public VocabularyTokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> load(const model::WeightMetadata& metadata);

 protected:
  void encode_text(std::string_view text, std::vector<int32_t>& out) const override;

 private:
  ByteLevelTokenizer(Vocabulary vocabulary, bool strip_after_special, PreTokenizer pre_tokenizer,
                     const PreTokenizerRule& rule);
  Status read_merges(const model::WeightMetadata& metadata);
  void encode_valid(std::string_view text, std::vector<int32_t>& out) const;
  void encode_word(std::string_view word, std::vector<int32_t>& out) const;
  void merge_word(std::string_view word, std::vector<int32_t>& out) const;

  PreTokenizer pre_tokenizer_;
  bool nfc_;
  bool whole_words_first_;
  MergeTable merges_;
  std::vector<int32_t> token_of_byte_;  // [256]; -1: the vocabulary lacks it
  KnownWords known_words_;
};

}  // namespace pagoda::text
