// The vocabulary of a model as the keys tokenizer.ggml.* give it: each token's bytes, kind and score, and the
// tokens with a role.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/weight_metadata.h"
#include "text/piece_table.h"
#include "text/tokenizer.h"

namespace pagoda::text {

// How the vocabulary writes bytes.
enum class PieceSpelling {
  kByteAlphabet,   // GPT-2's: "Ġhello"
  kEscapedSpaces,  // SentencePiece's: "▁hello", and "<0x0A>" for a lone byte
};

// What the model wants around a text where the metadata does not say.
struct BoundaryDefaults {
  bool add_bos = false;
  bool add_eos = false;
  int32_t bos = -1, eos = -1, unknown = -1;
};

class Vocabulary {
 public:
  static Result<Vocabulary> load(const model::WeightMetadata& metadata, PieceSpelling spelling,
                                 const BoundaryDefaults& defaults);
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  int size() const { return static_cast<int>(kinds_.size()); }
  // Bytes as they stand in running text; a control token's own text.
  std::string_view piece(int32_t token) const {
    const size_t i = static_cast<size_t>(token);
    return std::string_view(bytes_).substr(starts_[i], starts_[i + 1] - starts_[i]);
  }
  TokenKind kind(int32_t token) const { return kinds_[static_cast<size_t>(token)]; }
  double score(int32_t token) const { return scores_.empty() ? 0.0 : scores_[static_cast<size_t>(token)]; }
  bool has_scores() const { return !scores_.empty(); }

  // Any token of these bytes, words before special ones before lone bytes; -1 when there is none.
  int32_t find(std::string_view piece) const;
  // Only what running text is made of: normal tokens.
  int32_t find_word(std::string_view piece) const { return words_.find(piece); }
  // SentencePiece's token for a lone byte, -1 when there is none.
  int32_t byte_token(unsigned char byte) const { return byte_tokens_[byte]; }
  bool has_all_bytes() const;

  int32_t bos() const { return bos_; }
  int32_t eos() const { return eos_; }
  int32_t unknown() const { return unknown_; }
  bool adds_bos() const { return adds_bos_; }
  bool adds_eos() const { return adds_eos_; }
  const std::vector<int32_t>& end_tokens() const { return end_tokens_; }

 private:
  Vocabulary() = default;
  Status read_kinds(const model::WeightMetadata& metadata);
  Status read_pieces(const std::vector<std::string_view>& tokens, PieceSpelling spelling);
  Status read_roles(const model::WeightMetadata& metadata, const BoundaryDefaults& defaults);
  void index_pieces();
  Status find_end_tokens(const model::WeightMetadata& metadata);

  std::string bytes_;             // all pieces, one after the other
  std::vector<uint32_t> starts_;  // [tokens + 1] into bytes_
  std::vector<TokenKind> kinds_;
  std::vector<double> scores_;  // empty or [tokens]
  PieceTable words_;
  PieceTable specials_;
  std::vector<int32_t> byte_tokens_ = std::vector<int32_t>(256, -1);
  std::vector<int32_t> end_tokens_;
  int32_t bos_ = -1, eos_ = -1, unknown_ = -1;
  bool adds_bos_ = false, adds_eos_ = false;
};

}  // namespace pagoda::text
