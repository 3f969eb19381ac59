#include "text/pipeline/word_model.h"

#include "text/utf8.h"

namespace pagoda::text {
namespace {

using Made = Result<std::unique_ptr<WordModel>>;

constexpr int64_t kMostTokens = 1 << 24;

struct ModelType {
  std::string_view name;
  Made (*make)(const Json& model);
};
constexpr ModelType kTypes[] = {{"BPE", make_merge_model},
                                {"Unigram", make_unigram_model},
                                {"WordPiece", make_word_piece_model},
                                {"WordLevel", make_whole_word_model}};

size_t count_characters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

Result<int32_t> needed_unknown(const ModelVocabulary& vocabulary, const Json& model, const char* otherwise) {
  const std::string text = json_text(model, "unk_token", otherwise);
  const int32_t id = vocabulary.find(text);
  if (id >= 0) return id;
  return fail(ErrorCode::kCorruptData,
              format("tokenizer.json: the unknown token '{}' is not in the vocabulary", text));
}

// The longest piece from the left, again and again; a word that it does not come through is unknown as a
// whole.
class WordPiece final : public WordModel {
 public:
  WordPiece(ModelVocabulary vocabulary, int32_t unknown, const Json& model)
      : vocabulary_(std::move(vocabulary)),
        unknown_(unknown),
        prefix_(json_text(model, "continuing_subword_prefix", "##")),
        longest_word_(static_cast<size_t>(json_integer(model, "max_input_chars_per_word", 100))) {}

  void encode(std::string_view word, std::vector<int32_t>& out) const override {
    const size_t before = out.size();
    bool whole = count_characters(word) <= longest_word_;
    std::string piece;
    for (size_t begin = 0; whole && begin < word.size();) {
      piece.assign(begin > 0 ? prefix_ : "");
      const size_t prefix = piece.size();
      piece.append(word.substr(begin, vocabulary_.longest()));
      int32_t id = -1;
      while (piece.size() > prefix && (id = vocabulary_.find(piece)) < 0) piece.pop_back();
      whole = id >= 0;
      if (whole) out.push_back(id);
      begin += piece.size() - prefix;
    }
    if (whole) return;
    out.resize(before);
    out.push_back(unknown_);
  }

 private:
  ModelVocabulary vocabulary_;
  int32_t unknown_;
  std::string prefix_;
  size_t longest_word_;  // characters
};

class WholeWord final : public WordModel {
 public:
  WholeWord(ModelVocabulary vocabulary, int32_t unknown)
      : vocabulary_(std::move(vocabulary)), unknown_(unknown) {}
  void encode(std::string_view word, std::vector<int32_t>& out) const override {
    const int32_t id = vocabulary_.find(word);
    out.push_back(id >= 0 ? id : unknown_);
  }

 private:
  ModelVocabulary vocabulary_;
  int32_t unknown_;
};

}  // namespace

Result<ModelVocabulary> ModelVocabulary::from_object(const Json& vocab) {
  if (!vocab.is_object()) return fail(ErrorCode::kCorruptData, "tokenizer.json: model.vocab is no object");
  ModelVocabulary vocabulary;
  vocabulary.reserve(vocab.size());
  for (const auto& [piece, id] : vocab.items()) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= kMostTokens)
      return fail(ErrorCode::kCorruptData, format("tokenizer.json: the id of '{}' is no token id", piece));
    vocabulary.add(piece, static_cast<int32_t>(id.get<int64_t>()));
  }
  return vocabulary;
}

void ModelVocabulary::add(std::string piece, int32_t id) {
  table_.insert(pieces_.emplace_back(std::move(piece)), id);
}

Made make_word_piece_model(const Json& model) {
  PAGODA_ASSIGN(auto vocabulary, ModelVocabulary::from_object(json_child(model, "vocab")));
  PAGODA_ASSIGN(const int32_t unknown, needed_unknown(vocabulary, model, "[UNK]"));
  return std::make_unique<WordPiece>(std::move(vocabulary), unknown, model);
}

Made make_whole_word_model(const Json& model) {
  PAGODA_ASSIGN(auto vocabulary, ModelVocabulary::from_object(json_child(model, "vocab")));
  PAGODA_ASSIGN(const int32_t unknown, needed_unknown(vocabulary, model, "<unk>"));
  return std::make_unique<WholeWord>(std::move(vocabulary), unknown);
}

Made make_word_model(const Json& model) {
  std::string type = json_text(model, "type");
  // Files of before the type was written.
  if (type.empty() && json_child(model, "vocab").is_array()) type = "Unigram";
  if (type.empty() && model.is_object() && model.contains("merges")) type = "BPE";
  std::string known;
  for (const ModelType& row : kTypes) {
    if (row.name == type) return row.make(model);
    known.append(known.empty() ? "" : ", ").append(row.name);
  }
  return fail(
      ErrorCode::kUnsupported,
      format("tokenizer.json: the model's type '{}' is not supported; supported are {}", type, known));
}

}  // namespace pagoda::text
