// SentencePiece-style BPE (tokenizer.ggml.model "llama": Llama 2, Mistral, Gemma): characters merge by the
// score of the piece that they would become; what is no piece falls back to byte tokens.
#pragma once

#include <bitset>
#include <memory>

#include "text/known_words.h"
#include "text/pair_merging.h"
#include "text/piece_table.h"
#include "text/vocabulary_tokenizer.h"

namespace pagoda::text {

class SentencePieceTokenizer final : public VocabularyTokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> load(const model::WeightMetadata& metadata);

  // Without the space that encoding put before the text.
  std::string decode(std::span<const int32_t> tokens, bool skip_special) const override;

 protected:
  void encode_text(std::string_view text, std::vector<int32_t>& out) const override;

 private:
  SentencePieceTokenizer(Vocabulary vocabulary, bool strip_after_special, bool add_space_prefix);
  void index_pieces();
  void rank_pieces();
  PairMerge merge_of(std::string_view word, const Symbol& left, const Symbol& right) const;
  size_t word_end(std::string_view text, size_t begin) const;
  void encode_word(std::string_view word, std::vector<int32_t>& out) const;
  void merge_word(std::string_view word, std::vector<int32_t>& out) const;
  void append_unknown(std::string_view bytes, std::vector<int32_t>& out) const;

  bool add_space_prefix_;
  bool byte_fallback_;
  PieceTable pieces_;                 // what merging may yield: normal, user-defined and unused pieces
  std::vector<uint64_t> rank_;        // [tokens], by score; merge_of adds the lengths of the parts
  std::vector<uint16_t> characters_;  // [tokens]
  std::bitset<1 << 16> inner_pairs_;  // byte pairs that stand side by side inside some piece
  KnownWords known_words_;
};

}  // namespace pagoda::text
