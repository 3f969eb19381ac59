#include "api/openai/token_text.h"

#include "base/format.h"
#include "text/utf8.h"

namespace pagoda::api {

std::string token_id_text(int32_t token) {
  return format("token_id:{}", token);
}

std::string chat_token_text(const text::Tokenizer& tokenizer, int32_t token) {
  std::string_view bytes = tokenizer.piece(token);
  if (text::valid_utf8_prefix(bytes) == bytes.size()) return std::string(bytes);
  std::string out;
  while (!bytes.empty()) {
    const text::Utf8Char character = text::first_utf8_char(bytes);
    const auto length = static_cast<size_t>(character.length);
    out += character.valid ? bytes.substr(0, length) : text::kReplacementCharacter;
    bytes.remove_prefix(length);
  }
  return out;
}

std::string completion_token_text(const text::Tokenizer& tokenizer, int32_t token) {
  const std::string_view bytes = tokenizer.piece(token);
  if (text::valid_utf8_prefix(bytes) == bytes.size()) return std::string(bytes);
  std::string out = "bytes:";
  for (unsigned char byte : bytes) out += format("\\x{:02x}", byte);
  return out;
}

}  // namespace pagoda::api
