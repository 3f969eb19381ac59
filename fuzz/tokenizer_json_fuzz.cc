// A tokenizer.json from a stranger, then, behind a zero byte, a text: both must be read or refused, and ids
// must be in the vocabulary.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "model/hugging_face/tokenizer_json.h"
#include "text/tokenizer.h"

namespace {

void check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  const auto json = nlohmann::json::parse(bytes.substr(0, end), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return 0;
  model::TextStore texts;
  model::WeightMetadata metadata;
  if (!model::read_tokenizer_json(json, 0, texts, metadata)) return 0;
  const auto tokenizer = text::load_tokenizer(metadata);
  if (!tokenizer) return 0;
  const std::string_view text = bytes.substr(std::min(end + 1, bytes.size()));
  for (const bool special : {false, true}) {
    const auto ids = (*tokenizer)->encode(text, {.add_special = special, .parse_special = special});
    (*tokenizer)->decode(ids, special);
    for (const int32_t id : ids) (*tokenizer)->piece(id);
  }
  const text::TokenPair pair = (*tokenizer)->encode_pair(text, "b");
  check(pair.tokens.size() == pair.types.size());
  return 0;
}
