// SentencePiece's rules of normalisation as its models carry them: a double array trie from byte sequences to
// replacements. Layout: uint32 size of the trie, the trie (Darts: https://github.com/s-yata/darts-clone),
// then the replacements, each ended by a zero byte.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/normalizer.h"

namespace pagoda::text {

class PrecompiledCharsmap final : public NormalizerStep {
 public:
  // As tokenizer.json writes it, in base64; empty: changes nothing.
  static Result<std::unique_ptr<NormalizerStep>> make(const std::string& base64);
  // As a SentencePiece model holds it.
  static Result<std::unique_ptr<NormalizerStep>> make_from_bytes(std::string_view bytes);

  std::string apply(std::string text) const override;

 private:
  // The replacement for `chunk`: that of its shortest prefix with a rule, as the reference has it.
  const char* replacement(std::string_view chunk) const;  // nullptr: none

  std::vector<uint32_t> trie_;
  std::string replacements_;  // ends with a zero byte
};

}  // namespace pagoda::text
