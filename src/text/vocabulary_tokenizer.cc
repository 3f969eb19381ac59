#include "text/vocabulary_tokenizer.h"

#include <algorithm>
#include <deque>

#include "text/strip_after_special.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

size_t skip_white_space(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Utf8Char character = first_utf8_char(text.substr(at));
    if (!character.valid || !is_white_space(character.code_point)) break;
    at += static_cast<size_t>(character.length);
  }
  return at;
}

bool may_strip(std::string_view special) {
  return std::find(std::begin(kTokensThatNeverStrip), std::end(kTokensThatNeverStrip), special) ==
         std::end(kTokensThatNeverStrip);
}

// GGUF writes user-defined runs of spaces as they are, but the reference looks for their escaped form ("▁▁");
// runs of real spaces come about by merging (sentence_piece_tokenizer.h).
std::string escaped_if_only_spaces(std::string_view text) {
  std::string escaped;
  if (text.find_first_not_of(' ') != std::string_view::npos) return escaped;
  for (size_t i = 0; i < text.size(); ++i) escaped += "\xE2\x96\x81";
  return escaped;
}

AddedTokenTrie trie_of(const Vocabulary& vocabulary, bool with_special) {
  std::vector<AddedTokenTrie::Entry> entries;
  std::deque<std::string> escaped;
  for (int32_t token = 0; token < vocabulary.size(); ++token) {
    const TokenKind kind = vocabulary.kind(token);
    const bool special = kind == TokenKind::kControl || kind == TokenKind::kUnknown;
    if (kind != TokenKind::kUserDefined && !(with_special && special)) continue;
    std::string_view text = vocabulary.piece(token);
    if (vocabulary.has_scores()) {
      if (std::string spelled = escaped_if_only_spaces(text); !spelled.empty()) {
        text = escaped.emplace_back(std::move(spelled));
      }
    }
    entries.push_back({text, token});
  }
  return AddedTokenTrie(std::move(entries));
}

}  // namespace

VocabularyTokenizer::VocabularyTokenizer(Vocabulary vocabulary, bool strip_after_special)
    : vocabulary_(std::move(vocabulary)),
      all_added_(trie_of(vocabulary_, true)),
      user_defined_(trie_of(vocabulary_, false)),
      strip_after_special_(strip_after_special) {}

std::vector<int32_t> VocabularyTokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<int32_t> out;
  out.reserve(text.size() / 4 + 2);
  if (options.add_special && vocabulary_.adds_bos()) out.push_back(vocabulary_.bos());
  const AddedTokenTrie& added = options.parse_special ? all_added_ : user_defined_;
  for (size_t at = 0; at < text.size();) {
    const AddedTokenTrie::Match match = added.find(text, at);
    const size_t end = match.token < 0 ? text.size() : match.begin;
    if (end > at) encode_text(text.substr(at, end - at), out);
    if (match.token < 0) break;
    out.push_back(match.token);
    at = match.begin + match.length;
    if (strip_after_special_ && may_strip(piece(match.token))) at = skip_white_space(text, at);
  }
  if (options.add_special && vocabulary_.adds_eos()) out.push_back(vocabulary_.eos());
  return out;
}

std::string VocabularyTokenizer::decode(std::span<const int32_t> tokens, bool skip_special) const {
  std::string bytes;
  for (const int32_t token : tokens) {
    if (!skip_special || !is_special(token)) bytes += piece(token);
  }
  return bytes;
}

std::string_view VocabularyTokenizer::piece(int32_t token) const {
  return token >= 0 && token < size() ? vocabulary_.piece(token) : std::string_view();
}

TokenKind VocabularyTokenizer::kind(int32_t token) const {
  return token >= 0 && token < size() ? vocabulary_.kind(token) : TokenKind::kUnused;
}

}  // namespace pagoda::text
