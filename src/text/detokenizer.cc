#include "text/detokenizer.h"

#include "text/utf8.h"

namespace pagoda::text {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(tokenizer), skip_special_(skip_special) {}

std::string Detokenizer::accept(int32_t token) {
  std::string out;
  if (skip_special_ && tokenizer_.is_special(token)) return out;
  held_ += tokenizer_.piece(token);
  std::string_view rest = held_;
  while (!rest.empty()) {
    const size_t valid = valid_utf8_prefix(rest);
    out += rest.substr(0, valid);
    rest.remove_prefix(valid);
    if (rest.empty()) break;
    const Utf8Char broken = first_utf8_char(rest);
    if (broken.unfinished) break;
    out += kReplacementCharacter;
    rest.remove_prefix(static_cast<size_t>(broken.length));
  }
  held_.erase(0, held_.size() - rest.size());
  return out;
}

std::string Detokenizer::flush() {
  const bool unfinished = !held_.empty();
  held_.clear();
  return unfinished ? std::string(kReplacementCharacter) : std::string();
}

}  // namespace pagoda::text
