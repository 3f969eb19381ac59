// Vocabularies and texts from a stranger: the first bytes choose a tokenizer's kind and its options, then
// comes the vocabulary (pieces between newlines), then the text. What is valid must come back from decoding.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/format.h"
#include "text/detokenizer.h"
#include "text/pre_tokenizer_rules.h"
#include "text/stop_strings.h"
#include "text/tokenizer_fixtures.h"

namespace {

using namespace pagoda::text;

struct Input {
  std::string_view rest;
  uint8_t byte() {
    if (rest.empty()) return 0;
    const auto value = static_cast<uint8_t>(rest[0]);
    rest.remove_prefix(1);
    return value;
  }
  std::string_view until(char end) {
    const std::string_view part = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
  }
};

void check(bool condition) {
  if (!condition) std::abort();
}

std::unique_ptr<Tokenizer> tokenizer_of(Input& input, bool& all_bytes) {
  VocabularyFixture fixture;
  const uint8_t choice = input.byte();
  const bool byte_level = choice % 2 == 0;
  all_bytes = byte_level;
  if (byte_level) {
    fixture.add_byte_alphabet();
  } else {
    for (int byte = 0; byte < (choice & 2 ? 256 : 0); ++byte) {
      fixture.add(pagoda::format("<0x{:02X}>", byte), VocabularyFixture::kByte);
    }
  }
  const std::string_view vocabulary = input.until('\0');
  Input pieces{vocabulary};
  while (!pieces.rest.empty()) {
    const uint8_t kind = pieces.byte();
    const std::string piece(pieces.until('\n'));
    const auto space = piece.find(' ', 1);
    if (byte_level && space != std::string::npos && kind % 8 == 0) {
      fixture.add_merged(piece);
    } else {
      fixture.add(piece, static_cast<VocabularyFixture::Type>(1 + kind % 5), -static_cast<double>(kind));
    }
  }
  fixture.add("x");
  fixture.set("tokenizer.ggml.add_space_prefix", (choice & 4) != 0);
  const auto rules = pre_tokenizer_rules();
  auto loaded =
      byte_level ? load_tokenizer(fixture.byte_level(std::string(rules[(choice >> 2) % rules.size()].name)))
                 : load_tokenizer(fixture.sentence_piece());
  return loaded ? std::move(*loaded) : nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input{{reinterpret_cast<const char*>(data), size}};
  const EncodeOptions options{(input.byte() & 1) != 0, (input.byte() & 1) != 0};
  bool all_bytes = false;
  const auto tokenizer = tokenizer_of(input, all_bytes);
  if (!tokenizer) return 0;
  const std::vector<int32_t> ids = tokenizer->encode(input.rest, options);
  StopOptions stops{{"ab", "x", "\xC3\xA9"}, 2, true};
  const auto watcher = make_stop_watcher(*tokenizer, stops);
  StopFilter filter(stops, false);
  Detokenizer detokenizer(*tokenizer, true);
  std::string sent, whole;
  std::optional<std::string> stop;
  int tokens = 0;
  for (const int32_t id : ids) {
    check(id >= 0 && id < tokenizer->size());
    stop = watcher->accept(id);
    const std::string piece = detokenizer.accept(id);
    whole += piece;
    sent += filter.accept(piece, ++tokens);
    if (stop) break;
  }
  sent += filter.finish(stop);
  check(whole.starts_with(sent));
  check(stop.has_value() || sent == whole);
  return 0;
}
