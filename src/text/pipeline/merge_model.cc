// Byte-pair encoding as tokenizer.json has it, with all its settings: affixes of pieces, unknown characters,
// bytes in their place.
#include <span>

#include "text/merge_table.h"
#include "text/pair_merging.h"
#include "text/pipeline/word_model.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

class MergeModel final : public WordModel {
 public:
  static Result<std::unique_ptr<WordModel>> make(const Json& model) {
    if (json_child(model, "dropout").is_number() && json_child(model, "dropout") != 0.0)
      return fail(ErrorCode::kUnsupported,
                  "tokenizer.json: dropout makes ids random, which is not supported");
    PAGODA_ASSIGN(auto vocabulary, ModelVocabulary::from_object(json_child(model, "vocab")));
    std::unique_ptr<MergeModel> made(new MergeModel(std::move(vocabulary), model));
    PAGODA_TRY(made->read_merges(json_child(model, "merges")));
    const std::string unknown = json_text(model, "unk_token");
    made->unknown_ = unknown.empty() ? -1 : made->vocabulary_.find(unknown);
    if (json_flag(model, "byte_fallback", false)) {
      for (int byte = 0; byte < 256; ++byte)
        made->byte_tokens_.push_back(made->vocabulary_.find(format("<0x{:02X}>", byte)));
    }
    return std::unique_ptr<WordModel>(std::move(made));
  }

  void encode(std::string_view word, std::vector<int32_t>& out) const override {
    if (whole_words_first_) {
      if (const int32_t id = vocabulary_.find(word); id >= 0) {
        out.push_back(id);
        return;
      }
    }
    std::vector<Symbol> symbols = symbols_of(word);
    const size_t count = merge_pairs(std::span(symbols), [&](const Symbol& left, const Symbol& right) {
      return merges_.find(left.token, right.token);
    });
    for (size_t i = 0; i < count; ++i) out.push_back(symbols[i].token >= 0 ? symbols[i].token : unknown_);
  }

 private:
  MergeModel(ModelVocabulary vocabulary, const Json& model)
      : vocabulary_(std::move(vocabulary)),
        prefix_(json_text(model, "continuing_subword_prefix")),
        suffix_(json_text(model, "end_of_word_suffix")),
        fuses_unknown_(json_flag(model, "fuse_unk", false)),
        whole_words_first_(json_flag(model, "ignore_merges", false)) {}

  Status read_merges(const Json& merges) {
    merges_.reserve(merges.size());
    uint32_t rank = 0;
    for (const Json& merge : merges) {
      std::string left, right;
      if (merge.is_string()) {
        const auto& text = merge.get_ref<const std::string&>();
        const size_t space = text.find(' ');
        left = text.substr(0, space);
        right = space == std::string::npos ? "" : text.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        left = merge[0].get<std::string>(), right = merge[1].get<std::string>();
      }
      const std::string whole =
          right.size() < prefix_.size() ? left : left + right.substr(right.empty() ? 0 : prefix_.size());
      const int32_t ids[] = {vocabulary_.find(left), vocabulary_.find(right), vocabulary_.find(whole)};
      if (left.empty() || right.empty() || ids[0] < 0 || ids[1] < 0 || ids[2] < 0)
        return fail(ErrorCode::kCorruptData,
                    format("tokenizer.json: the merge '{} {}' names a piece that is not in the vocabulary",
                           left, right));
      merges_.insert(ids[0], ids[1], rank++, ids[2]);
    }
    return {};
  }

  // One symbol per character, or per byte of one that is no piece; token -1: unknown.
  std::vector<Symbol> symbols_of(std::string_view word) const {
    std::vector<Symbol> symbols;
    std::string piece;
    for (size_t at = 0; at < word.size();) {
      const auto length = static_cast<size_t>(first_utf8_char(word.substr(at)).length);
      piece.assign(at > 0 ? prefix_ : "").append(word.substr(at, length));
      if (at + length == word.size()) piece += suffix_;
      const int32_t id = vocabulary_.find(piece);
      if (id >= 0) {
        symbols.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(length), id});
      } else if (!append_bytes(piece, at, symbols)) {
        append_unknown(at, length, symbols);
      }
      at += length;
    }
    return symbols;
  }

  bool append_bytes(std::string_view piece, size_t at, std::vector<Symbol>& symbols) const {
    if (byte_tokens_.empty()) return false;
    const size_t before = symbols.size();
    for (size_t i = 0; i < piece.size(); ++i) {
      const int32_t id = byte_tokens_[static_cast<unsigned char>(piece[i])];
      if (id < 0) {
        symbols.resize(before);
        return false;
      }
      symbols.push_back({static_cast<uint32_t>(at + i), 1, id});
    }
    return true;
  }

  // Without an unknown token such a character is left out.
  void append_unknown(size_t at, size_t length, std::vector<Symbol>& symbols) const {
    if (unknown_ < 0) return;
    const bool continues = fuses_unknown_ && !symbols.empty() && symbols.back().token < 0;
    if (continues) {
      symbols.back().length += static_cast<uint32_t>(length);
    } else {
      symbols.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(length), -1});
    }
  }

  ModelVocabulary vocabulary_;
  std::string prefix_, suffix_;
  bool fuses_unknown_, whole_words_first_;
  MergeTable merges_;
  int32_t unknown_ = -1;
  std::vector<int32_t> byte_tokens_;  // empty, or [256]
};

}  // namespace

Result<std::unique_ptr<WordModel>> make_merge_model(const Json& model) {
  return MergeModel::make(model);
}

}  // namespace pagoda::text
