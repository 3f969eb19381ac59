#include "text/pipeline/pipeline_tokenizer.h"

#include "text/utf8.h"

namespace pagoda::text {

Result<std::unique_ptr<Tokenizer>> PipelineTokenizer::load(const model::WeightMetadata& metadata) {
  const auto text = metadata.text("tokenizer.pagoda.json");
  if (!text)
    return fail(ErrorCode::kCorruptData, "the model has no tokenizer: tokenizer.pagoda.json is missing");
  const Json file = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!file.is_object()) return fail(ErrorCode::kCorruptData, "tokenizer.json is no JSON object");
  PAGODA_ASSIGN(Vocabulary vocabulary, Vocabulary::load(metadata, PieceSpelling::kEscapedSpaces, {}));
  std::unique_ptr<PipelineTokenizer> made(new PipelineTokenizer(std::move(vocabulary)));
  PAGODA_TRY(made->read(file));
  made->write_pieces(*metadata.texts("tokenizer.ggml.tokens"));
  return std::unique_ptr<Tokenizer>(std::move(made));
}

Status PipelineTokenizer::read(const Json& file) {
  PAGODA_ASSIGN(normalizer_, Normalizer::make(json_child(file, "normalizer")));
  PAGODA_ASSIGN(added_, AddedTokens::make(json_child(file, "added_tokens"), normalizer_));
  PAGODA_ASSIGN(splitter_, WordSplitter::make(json_child(file, "pre_tokenizer")));
  PAGODA_ASSIGN(model_, make_word_model(json_child(file, "model")));
  PAGODA_ASSIGN(framing_, Framing::make(json_child(file, "post_processor")));
  if (framing_.largest() >= size())
    return fail(ErrorCode::kCorruptData,
                format("tokenizer.json: the post-processor puts the token {} around a text, and there are {}",
                       framing_.largest(), size()));
  PAGODA_ASSIGN(decoder_, PieceDecoder::make(json_child(file, "decoder")));
  return {};
}

void PipelineTokenizer::write_pieces(const std::vector<std::string_view>& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto token = static_cast<int32_t>(i);
    written_.emplace_back(tokens[i]);
    if (vocabulary_.kind(token) == TokenKind::kByte) {
      pieces_.emplace_back(vocabulary_.piece(token));
    } else {
      const AddedToken* added = added_.find(token);
      pieces_.push_back(added != nullptr ? written_.back() : decoder_.piece_in_text(written_.back()));
      // The reference decodes a token that it looks for in the normalised text to what it looked for.
      if (added != nullptr && added->normalized) written_.back() = normalizer_.apply(added->content);
    }
  }
  by_piece_.reserve(pieces_.size());
  for (const bool words : {true, false}) {
    for (int32_t token = 0; token < size(); ++token) {
      const std::string& piece = pieces_[static_cast<size_t>(token)];
      if (!piece.empty() && (vocabulary_.kind(token) == TokenKind::kNormal) == words)
        by_piece_.insert(piece, token);
    }
  }
}

std::vector<int32_t> PipelineTokenizer::encode_plain(std::string_view text, bool parse_special) const {
  std::vector<int32_t> out;
  const std::string valid = as_valid_utf8(std::string(text));
  std::vector<Word> words;
  added_.cut(valid, normalizer_, parse_special, [&](int32_t token, std::string piece, bool begins_the_text) {
    if (token >= 0) {
      out.push_back(token);
      return;
    }
    words.clear();
    splitter_.split({std::move(piece), begins_the_text}, words);
    for (const Word& word : words) model_->encode(word.text, out);
  });
  return out;
}

std::vector<int32_t> PipelineTokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<int32_t> tokens = encode_plain(text, options.parse_special);
  return options.add_special ? framing_.frame(std::move(tokens)) : tokens;
}

TokenPair PipelineTokenizer::encode_pair(std::string_view first, std::string_view second) const {
  return framing_.frame(encode_plain(first, true), encode_plain(second, true));
}

std::string PipelineTokenizer::decode(std::span<const int32_t> tokens, bool skip_special) const {
  std::vector<std::string> pieces;
  for (const int32_t token : tokens) {
    if (token < 0 || token >= size()) continue;
    const AddedToken* added = added_.find(token);
    if (skip_special && added != nullptr && added->special) continue;
    pieces.push_back(written_[static_cast<size_t>(token)]);
  }
  return decoder_.decode(std::move(pieces));
}

std::string_view PipelineTokenizer::piece(int32_t token) const {
  return token >= 0 && token < size() ? std::string_view(pieces_[static_cast<size_t>(token)])
                                      : std::string_view();
}

TokenKind PipelineTokenizer::kind(int32_t token) const {
  return token >= 0 && token < size() ? vocabulary_.kind(token) : TokenKind::kUnused;
}

int32_t PipelineTokenizer::find(std::string_view piece) const {
  return by_piece_.find(piece);
}

}  // namespace pagoda::text
