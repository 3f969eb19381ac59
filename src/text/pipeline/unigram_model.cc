// The most probable cut of a word into pieces (Viterbi over the pieces' log-probabilities), as
// SentencePiece's unigram models encode.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <unordered_map>

#include "text/pipeline/word_model.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

constexpr double kUnknownPenalty = 10;  // below the least probable piece

// The reference's JSON reader makes a number by one multiplication or division of its digits, which may be
// off in the last place. Which of two cuts of equal probability wins hangs on it.
double as_the_reference_reads(double value) {
  char text[40];
  char* end = std::to_chars(text, text + sizeof text - 1, std::abs(value), std::chars_format::scientific).ptr;
  *end = '\0';
  uint64_t digits = 0;
  int exponent = 0;
  const char* at = text;
  for (bool fraction = false; at < end && *at != 'e'; ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    digits = digits * 10 + static_cast<uint64_t>(*at - '0');
    exponent -= fraction ? 1 : 0;
  }
  if (at == end) return value;  // not a finite number
  exponent += std::atoi(at + 1);
  const double power = std::pow(10.0, std::abs(exponent));
  const double read =
      exponent >= 0 ? static_cast<double>(digits) * power : static_cast<double>(digits) / power;
  return value < 0 ? -read : read;
}

class Unigram final : public WordModel {
 public:
  static Result<std::unique_ptr<WordModel>> make(const Json& model) {
    std::unique_ptr<Unigram> made(new Unigram);
    PAGODA_TRY(made->read_vocabulary(json_child(model, "vocab")));
    const int64_t unknown = json_integer(model, "unk_id", -1);
    if (unknown >= static_cast<int64_t>(made->scores_.size()))
      return fail(ErrorCode::kCorruptData, "tokenizer.json: unk_id is not in the vocabulary");
    made->unknown_ = static_cast<int32_t>(unknown);
    if (json_flag(model, "byte_fallback", false)) {
      for (int byte = 0; byte < 256; ++byte)
        made->byte_tokens_.push_back(made->vocabulary_.find(format("<0x{:02X}>", byte)));
    }
    return std::unique_ptr<WordModel>(std::move(made));
  }

  void encode(std::string_view word, std::vector<int32_t>& out) const override {
    const std::vector<Arrival> best = best_arrivals(word);
    std::vector<std::string_view> pieces;  // from the last to the first
    size_t unknown_end = 0;                // neighbouring unknown characters are one piece
    const auto close_unknown = [&](size_t begin) {
      if (unknown_end > 0) pieces.push_back(word.substr(begin, unknown_end - begin));
      unknown_end = 0;
    };
    for (size_t end = word.size(); end > 0;) {
      const Arrival& arrival = best[end];
      if (unknown_ >= 0 && arrival.token == unknown_) {
        if (unknown_end == 0) unknown_end = end;
      } else {
        close_unknown(end);
        pieces.push_back(word.substr(arrival.begin, end - arrival.begin));
      }
      end = arrival.begin;
    }
    close_unknown(0);
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) append(*piece, out);
  }

 private:
  struct Arrival {
    double score = 0;
    size_t begin = 0;
    int32_t token = -1;
    bool reached = false;
  };
  // One node per prefix of a piece; children by (node, byte).
  struct Trie {
    std::unordered_map<uint64_t, uint32_t> children;
    std::vector<int32_t> token = {-1};
    static uint64_t key(uint32_t node, char byte) {
      return static_cast<uint64_t>(node) << 8 | static_cast<unsigned char>(byte);
    }
    void insert(std::string_view piece, int32_t id) {
      uint32_t node = 0;
      for (const char byte : piece) {
        const auto [child, added] =
            children.try_emplace(key(node, byte), static_cast<uint32_t>(token.size()));
        if (added) token.push_back(-1);
        node = child->second;
      }
      token[node] = id;  // of equal pieces the last one counts
    }
  };

  Unigram() = default;

  Status read_vocabulary(const Json& vocab) {
    if (!vocab.is_array() || vocab.empty())
      return fail(ErrorCode::kCorruptData, "tokenizer.json: model.vocab is no list");
    vocabulary_.reserve(vocab.size());
    for (const Json& row : vocab) {
      if (!row.is_array() || row.size() != 2 || !row[0].is_string() || !row[1].is_number())
        return fail(ErrorCode::kCorruptData,
                    "tokenizer.json: an entry of model.vocab is no piece with its score");
      const auto id = static_cast<int32_t>(scores_.size());
      scores_.push_back(as_the_reference_reads(row[1].get<double>()));
      least_ = std::min(least_, scores_.back());
      trie_.insert(row[0].get_ref<const std::string&>(), id);
      vocabulary_.add(row[0].get<std::string>(), id);
    }
    return {};
  }

  std::vector<Arrival> best_arrivals(std::string_view word) const {
    std::vector<Arrival> best(word.size() + 1);
    const auto arrive = [&](size_t end, size_t begin, double score, int32_t token) {
      Arrival& there = best[end];
      if (!there.reached || score > there.score) there = {score, begin, token, true};
    };
    for (size_t begin = 0; begin < word.size();) {
      const auto character = static_cast<size_t>(first_utf8_char(word.substr(begin)).length);
      const double here = best[begin].score;
      bool whole_character = false;
      uint32_t node = 0;
      for (size_t end = begin; end < word.size();) {
        const auto child = trie_.children.find(Trie::key(node, word[end]));
        if (child == trie_.children.end()) break;
        node = child->second;
        ++end;
        const int32_t token = trie_.token[node];
        if (token < 0) continue;
        arrive(end, begin, scores_[static_cast<size_t>(token)] + here, token);
        whole_character |= end - begin == character;
      }
      if (!whole_character)
        arrive(begin + character, begin, least_ - kUnknownPenalty + here, std::max(unknown_, 0));
      begin += character;
    }
    return best;
  }

  void append(std::string_view piece, std::vector<int32_t>& out) const {
    if (const int32_t id = vocabulary_.find(piece); id >= 0) {
      out.push_back(id);
      return;
    }
    const size_t before = out.size();
    for (const char byte : piece) {
      const int32_t id = byte_tokens_.empty() ? -1 : byte_tokens_[static_cast<unsigned char>(byte)];
      if (id < 0) break;
      out.push_back(id);
    }
    if (!byte_tokens_.empty() && out.size() - before == piece.size()) return;
    out.resize(before);
    if (unknown_ >= 0) out.push_back(unknown_);
  }

  ModelVocabulary vocabulary_;
  Trie trie_;
  std::vector<double> scores_;
  double least_ = std::numeric_limits<double>::max();
  int32_t unknown_ = -1;
  std::vector<int32_t> byte_tokens_;  // empty, or [256]
};

}  // namespace

Result<std::unique_ptr<WordModel>> make_unigram_model(const Json& model) {
  return Unigram::make(model);
}

}  // namespace pagoda::text
