// Tokens' pieces → running text, as the decoder of a tokenizer.json says. Immutable, safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pipeline/json_part.h"

namespace pagoda::text {

class DecoderStep {
 public:
  virtual ~DecoderStep() = default;
  virtual void apply(std::vector<std::string>& pieces) const = 0;
};

class PieceDecoder {
 public:
  // null: pieces are joined by spaces.
  static Result<PieceDecoder> make(const Json& part);
  std::string decode(std::vector<std::string> pieces) const;
  // A piece in the middle of a text, on its own.
  std::string piece_in_text(const std::string& piece) const;

 private:
  std::vector<std::unique_ptr<DecoderStep>> steps_;
};

}  // namespace pagoda::text
