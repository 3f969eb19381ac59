// The third stage of a tokenizer.json: a word → token ids, by one of four methods. Immutable, safe from any
// thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/piece_table.h"
#include "text/pipeline/json_part.h"

namespace pagoda::text {

// The pieces of a vocabulary, as they are written in the file.
class ModelVocabulary {
 public:
  // {"piece": id, …}
  static Result<ModelVocabulary> from_object(const Json& vocab);
  void add(std::string piece, int32_t id);
  int32_t find(std::string_view piece) const { return table_.find(piece); }
  size_t longest() const { return table_.longest(); }
  void reserve(size_t pieces) { table_.reserve(pieces); }

 private:
  std::deque<std::string> pieces_;  // whose bytes the table points to
  PieceTable table_;
};

class WordModel {
 public:
  virtual ~WordModel() = default;
  // Appends the tokens of one word: not empty, valid UTF-8.
  virtual void encode(std::string_view word, std::vector<int32_t>& out) const = 0;
};

Result<std::unique_ptr<WordModel>> make_merge_model(const Json& model);       // BPE
Result<std::unique_ptr<WordModel>> make_unigram_model(const Json& model);     // Unigram
Result<std::unique_ptr<WordModel>> make_word_piece_model(const Json& model);  // WordPiece
Result<std::unique_ptr<WordModel>> make_whole_word_model(const Json& model);  // WordLevel

// By its type. kUnsupported lists those that there are.
Result<std::unique_ptr<WordModel>> make_word_model(const Json& model);

}  // namespace pagoda::text
