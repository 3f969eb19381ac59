#include "text/sentence_piece_tokenizer.h"

#include <algorithm>
#include <numeric>

#include "text/strip_after_special.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

constexpr std::string_view kEscapedSpace = "\xE2\x96\x81";  // U+2581
constexpr int kLengthBits = 9;
constexpr uint64_t kLongestPart = (1u << kLengthBits) - 1;

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

size_t pair_index(char a, char b) {
  return static_cast<size_t>(static_cast<unsigned char>(a)) << 8 | static_cast<unsigned char>(b);
}

// An escaped space that the text itself contains means a space, as for the reference.
std::string unescape(std::string_view text, bool space_prefix) {
  std::string plain(space_prefix ? " " : "");
  for (size_t at = text.find(kEscapedSpace); at != std::string_view::npos; at = text.find(kEscapedSpace)) {
    plain.append(text.substr(0, at)).append(" ");
    text.remove_prefix(at + kEscapedSpace.size());
  }
  return plain.append(text);
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(Vocabulary vocabulary, bool strip_after_special,
                                               bool add_space_prefix)
    : VocabularyTokenizer(std::move(vocabulary), strip_after_special),
      add_space_prefix_(add_space_prefix),
      byte_fallback_(this->vocabulary().has_all_bytes()),
      known_words_(size()) {
  index_pieces();
  rank_pieces();
}

Result<std::unique_ptr<Tokenizer>> SentencePieceTokenizer::load(const model::WeightMetadata& metadata) {
  BoundaryDefaults defaults;
  defaults.add_bos = true;
  defaults.bos = 1;
  defaults.eos = 2;
  defaults.unknown = 0;
  PAGODA_ASSIGN(Vocabulary vocabulary, Vocabulary::load(metadata, PieceSpelling::kEscapedSpaces, defaults));
  if (!vocabulary.has_scores()) {
    return fail(ErrorCode::kCorruptData, "tokenizer.ggml.scores is missing: without scores nothing merges");
  }
  const bool add_space_prefix = metadata.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
  return std::unique_ptr<Tokenizer>(
      new SentencePieceTokenizer(std::move(vocabulary), strips_after_special(metadata), add_space_prefix));
}

void SentencePieceTokenizer::index_pieces() {
  pieces_.reserve(static_cast<size_t>(size()));
  characters_.assign(static_cast<size_t>(size()), 0);
  // Twice, so that of equal bytes the normal piece stays.
  for (const bool normal : {true, false}) {
    for (int32_t token = 0; token < size(); ++token) {
      const TokenKind kind = this->kind(token);
      const bool other = kind == TokenKind::kUserDefined || kind == TokenKind::kUnused;
      if (normal ? kind != TokenKind::kNormal : !other) continue;
      const std::string_view text = piece(token);
      if (text.empty()) continue;
      pieces_.insert(text, token);
      const auto count =
          std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); });
      characters_[static_cast<size_t>(token)] =
          static_cast<uint16_t>(std::min<std::ptrdiff_t>(count, 0xFFFF));
      for (size_t i = 0; i + 1 < text.size(); ++i) inner_pairs_.set(pair_index(text[i], text[i + 1]));
    }
  }
}

// The reference sorts the merges that a vocabulary implies by the piece's score, then by the left and the
// right part's length, all descending, then by the piece's id. User-defined pieces count as score 0.
void SentencePieceTokenizer::rank_pieces() {
  const auto score = [&](int32_t token) {
    return kind(token) == TokenKind::kUserDefined ? 0.0 : vocabulary().score(token);
  };
  std::vector<int32_t> order(static_cast<size_t>(size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return score(a) > score(b); });
  // Bits: 30 of the score's place, 2 × 9 of lengths (merge_of), 16 of the id's place among equal scores.
  rank_.resize(order.size());
  uint64_t tier = 0, place = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0) {
      const bool equal = score(order[i]) == score(order[i - 1]);
      tier += equal ? 0 : 1;
      place = equal ? std::min<uint64_t>(place + 1, 0xFFFF) : 0;
    }
    rank_[static_cast<size_t>(order[i])] = tier << (2 * kLengthBits + 16) | place;
  }
}

PairMerge SentencePieceTokenizer::merge_of(std::string_view word, const Symbol& left,
                                           const Symbol& right) const {
  if (left.token < 0 || right.token < 0) return {};
  const int32_t token = pieces_.find(word.substr(left.begin, left.length + right.length));
  if (token < 0) return {};
  const auto shorter = [&](int32_t part) {
    return kLongestPart - std::min<uint64_t>(characters_[static_cast<size_t>(part)], kLongestPart);
  };
  const uint64_t lengths = shorter(left.token) << kLengthBits | shorter(right.token);
  return {rank_[static_cast<size_t>(token)] | lengths << 16, token};
}

void SentencePieceTokenizer::encode_text(std::string_view text, std::vector<int32_t>& out) const {
  std::string plain;
  if (add_space_prefix_ || text.find(kEscapedSpace) != std::string_view::npos) {
    plain = unescape(text, add_space_prefix_);
    text = plain;
  }
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = word_end(text, begin);
    encode_word(text.substr(begin, end - begin), out);
    begin = end;
  }
}

// No merge crosses two bytes that stand side by side in no piece: the text falls apart there, with the same
// result.
size_t SentencePieceTokenizer::word_end(std::string_view text, size_t begin) const {
  size_t end = begin + 1;
  while (end < text.size() &&
         (continues_character(text[end]) || inner_pairs_.test(pair_index(text[end - 1], text[end])))) {
    ++end;
  }
  return end;
}

void SentencePieceTokenizer::encode_word(std::string_view word, std::vector<int32_t>& out) const {
  const int32_t token = pieces_.find(word);
  if (token < 0) return merge_word(word, out);
  if (known_words_.get(token) == KnownWords::Answer::kItself) {
    out.push_back(token);
    return;
  }
  const size_t before = out.size();
  merge_word(word, out);
  known_words_.set(token, out.size() == before + 1 && out.back() == token);
}

void SentencePieceTokenizer::merge_word(std::string_view word, std::vector<int32_t>& out) const {
  Symbol short_word[kScanLimit];
  std::vector<Symbol> long_word(word.size() > kScanLimit ? word.size() : 0);
  Symbol* symbols = long_word.empty() ? short_word : long_word.data();
  size_t count = 0;
  for (size_t at = 0; at < word.size(); ++count) {
    const auto length = static_cast<uint32_t>(first_utf8_char(word.substr(at)).length);
    symbols[count] = {static_cast<uint32_t>(at), length, pieces_.find(word.substr(at, length))};
    at += length;
  }
  count = merge_pairs(std::span(symbols, count),
                      [&](const Symbol& left, const Symbol& right) { return merge_of(word, left, right); });
  for (size_t i = 0; i < count; ++i) {
    if (symbols[i].token >= 0) {
      out.push_back(symbols[i].token);
    } else {
      append_unknown(word.substr(symbols[i].begin, symbols[i].length), out);
    }
  }
}

void SentencePieceTokenizer::append_unknown(std::string_view bytes, std::vector<int32_t>& out) const {
  if (byte_fallback_) {
    for (const char byte : bytes) out.push_back(vocabulary().byte_token(static_cast<unsigned char>(byte)));
    return;
  }
  const int32_t unknown = vocabulary().unknown();
  const bool in_a_run = !out.empty() && out.back() == unknown;  // one token stands for a run of them
  if (unknown >= 0 && !in_a_run) out.push_back(unknown);
}

std::string SentencePieceTokenizer::decode(std::span<const int32_t> tokens, bool skip_special) const {
  std::string bytes = VocabularyTokenizer::decode(tokens, skip_special);
  if (add_space_prefix_ && bytes.starts_with(' ')) bytes.erase(0, 1);
  return bytes;
}

}  // namespace pagoda::text
