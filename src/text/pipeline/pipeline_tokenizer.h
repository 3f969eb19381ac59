// A tokenizer.json carried out stage by stage: added tokens, normalizer, pre-tokenizer, model,
// post-processor; decoder. Ids are those of the package `tokenizers`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/piece_table.h"
#include "text/pipeline/added_tokens.h"
#include "text/pipeline/framing.h"
#include "text/pipeline/normalizer.h"
#include "text/pipeline/piece_decoder.h"
#include "text/pipeline/word_model.h"
#include "text/pipeline/word_splitter.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace pagoda::text {

class PipelineTokenizer final : public Tokenizer {
 public:
  // From the file's text under tokenizer.pagoda.json, and the roles and kinds of tokens under
  // tokenizer.ggml.*.
  static Result<std::unique_ptr<Tokenizer>> load(const model::WeightMetadata& metadata);

  std::vector<int32_t> encode(std::string_view text, const EncodeOptions& options) const override;
  TokenPair encode_pair(std::string_view first, std::string_view second) const override;
  std::string_view piece(int32_t token) const override;
  std::string decode(std::span<const int32_t> tokens, bool skip_special) const override;
  int size() const override { return vocabulary_.size(); }
  TokenKind kind(int32_t token) const override;
  int32_t find(std::string_view piece) const override;
  int32_t bos() const override { return vocabulary_.bos(); }
  int32_t eos() const override { return vocabulary_.eos(); }
  const std::vector<int32_t>& end_tokens() const override { return vocabulary_.end_tokens(); }
  bool adds_bos() const override { return framing_.before() >= 0; }

 private:
  explicit PipelineTokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  Status read(const Json& file);
  void write_pieces(const std::vector<std::string_view>& tokens);
  std::vector<int32_t> encode_plain(std::string_view text, bool parse_special) const;

  Vocabulary vocabulary_;             // kinds and roles
  std::vector<std::string> written_;  // [tokens], as the file writes them
  std::vector<std::string> pieces_;   // [tokens], in running text
  PieceTable by_piece_;               // of pieces_, words before the others
  Normalizer normalizer_;
  AddedTokens added_;
  WordSplitter splitter_;
  std::unique_ptr<WordModel> model_;
  Framing framing_;
  PieceDecoder decoder_;
};

}  // namespace pagoda::text
