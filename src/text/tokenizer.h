// Text ↔ token ids. Immutable after loading, safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/weight_metadata.h"

namespace pagoda::text {

enum class TokenKind : uint8_t { kNormal, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct EncodeOptions {
  bool add_special = true;    // what the model wants around a text (BOS, EOS)
  bool parse_special = true;  // "<|im_end|>" in the text becomes that one token
};

// Two texts as one sequence, as models that compare them read them.
struct TokenPair {
  std::vector<int32_t> tokens;
  std::vector<int32_t> types;  // [tokens], 0: the first text and what stands around it, 1: the second
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::vector<int32_t> encode(std::string_view text, const EncodeOptions& options) const = 0;
  // With what the model wants around two texts. Where the tokenizer does not say: the one behind the other.
  virtual TokenPair encode_pair(std::string_view first, std::string_view second) const;
  // The raw bytes of one token, as they stand in running text; may be a part of a character.
  // Control tokens give their text ("<|im_end|>").
  virtual std::string_view piece(int32_t token) const = 0;
  // Bytes of a token sequence; skip_special leaves control tokens out. Not necessarily UTF-8.
  virtual std::string decode(std::span<const int32_t> tokens, bool skip_special) const = 0;

  virtual int size() const = 0;
  virtual TokenKind kind(int32_t token) const = 0;
  bool is_special(int32_t token) const { return kind(token) == TokenKind::kControl; }
  // -1 when there is none.
  virtual int32_t find(std::string_view piece) const = 0;
  virtual int32_t bos() const = 0;
  virtual int32_t eos() const = 0;
  // Every token that ends an answer: eos, eot and what the metadata or the vocabulary names as such.
  virtual const std::vector<int32_t>& end_tokens() const = 0;
  virtual bool adds_bos() const = 0;
};

// From the keys tokenizer.ggml.*. Fails naming the key, or the tokenizer model or pre-tokenizer that is not
// known with the list of those that are.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const model::WeightMetadata& metadata);

}  // namespace pagoda::text
