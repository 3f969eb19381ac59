// Small vocabularies made by hand, for tests.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "model/weight_metadata.h"
#include "text/byte_alphabet.h"

namespace pagoda::text {

// Keeps the strings that the metadata points to.
class VocabularyFixture {
 public:
  enum Type : int64_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

  int32_t add(std::string token, Type type = kNormal, double score = 0) {
    tokens_.push_back(keep(std::move(token)));
    types_.push_back(type);
    scores_.push_back(score);
    return static_cast<int32_t>(tokens_.size()) - 1;
  }
  void add_merge(std::string merge) { merges_.push_back(keep(std::move(merge))); }
  void set(std::string key, model::WeightMetadata::Value value) {
    metadata_.set(std::move(key), std::move(value));
  }

  // Every byte in GPT-2's alphabet as tokens 0 to 255.
  void add_byte_alphabet() {
    for (int byte = 0; byte < 256; ++byte) add(alphabet_of_bytes(std::string(1, static_cast<char>(byte))));
  }
  // "he llo" makes the token "hello".
  int32_t add_merged(const std::string& merge) {
    add_merge(merge);
    std::string token = merge;
    token.erase(token.find(' '), 1);
    return add(token);
  }

  const model::WeightMetadata& byte_level(std::string pre = "gpt-2") {
    metadata_.set("tokenizer.ggml.model", std::string_view("gpt2"));
    metadata_.set("tokenizer.ggml.pre", keep(std::move(pre)));
    metadata_.set("tokenizer.ggml.merges", merges_);
    return finish();
  }
  const model::WeightMetadata& sentence_piece() {
    metadata_.set("tokenizer.ggml.model", std::string_view("llama"));
    metadata_.set("tokenizer.ggml.scores", scores_);
    return finish();
  }

 private:
  const model::WeightMetadata& finish() {
    metadata_.set("tokenizer.ggml.tokens", tokens_);
    metadata_.set("tokenizer.ggml.token_type", types_);
    return metadata_;
  }
  std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }

  std::deque<std::string> kept_;
  std::vector<std::string_view> tokens_, merges_;
  std::vector<int64_t> types_;
  std::vector<double> scores_;
  model::WeightMetadata metadata_;
};

}  // namespace pagoda::text
