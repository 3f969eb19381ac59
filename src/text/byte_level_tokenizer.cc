#include "text/byte_level_tokenizer.h"

#include <algorithm>
#include <unordered_map>

#include "base/format.h"
#include "base/log.h"
#include "text/normal_form.h"
#include "text/strip_after_special.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

constexpr std::string_view kPreKey = "tokenizer.ggml.pre", kMergesKey = "tokenizer.ggml.merges";

// The steps of a tokenizer.json, as the metadata tell them (model/hugging_face/tokenizer_json.h).
struct ToldRule {
  std::vector<SplitStep> steps;
  PreTokenizerRule rule;
};

Result<std::unique_ptr<ToldRule>> told_rule(const model::WeightMetadata& metadata) {
  const auto* kinds = metadata.texts("tokenizer.pagoda.split_kinds");
  const auto* patterns = metadata.texts("tokenizer.pagoda.split_patterns");
  auto told = std::make_unique<ToldRule>();
  if (kinds == nullptr || patterns == nullptr || kinds->size() != patterns->size())
    return fail(ErrorCode::kCorruptData, "tokenizer.pagoda.split_kinds and split_patterns do not agree");
  for (size_t i = 0; i < kinds->size(); ++i) {
    const std::string_view kind = (*kinds)[i];
    if (kind == "gpt-2") {
      told->steps.push_back(find_pre_tokenizer_rule(kind)->steps.front());
    } else {
      told->steps.push_back({kind == "digits" ? SplitKind::kEachDigit : SplitKind::kIsolate, (*patterns)[i]});
    }
  }
  told->rule.name = "tokenizer.json";
  told->rule.steps = told->steps;
  told->rule.nfc = metadata.boolean("tokenizer.pagoda.nfc").value_or(false);
  told->rule.whole_words_first = metadata.boolean("tokenizer.pagoda.whole_words_first").value_or(false);
  return told;
}

Result<const PreTokenizerRule*> named_rule(const model::WeightMetadata& metadata) {
  if (!metadata.has(kPreKey)) {
    log::warning("{} is missing: words are cut as 'default', which may not be this model's way", kPreKey);
    return find_pre_tokenizer_rule("default");
  }
  const std::string_view name = metadata.text(kPreKey).value_or("");
  if (const PreTokenizerRule* rule = find_pre_tokenizer_rule(name)) return rule;
  return fail(ErrorCode::kUnsupported,
              format("{} is '{}', which is not known. Known are: {}", kPreKey, name, known_pre_tokenizers()));
}

}  // namespace

ByteLevelTokenizer::ByteLevelTokenizer(Vocabulary vocabulary, bool strip_after_special,
                                       PreTokenizer pre_tokenizer, const PreTokenizerRule& rule)
    : VocabularyTokenizer(std::move(vocabulary), strip_after_special),
      pre_tokenizer_(std::move(pre_tokenizer)),
      nfc_(rule.nfc),
      whole_words_first_(rule.whole_words_first),
      known_words_(size()) {
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    token_of_byte_.push_back(this->vocabulary().find_word({&text, 1}));
  }
}

Result<std::unique_ptr<Tokenizer>> ByteLevelTokenizer::load(const model::WeightMetadata& metadata) {
  std::unique_ptr<ToldRule> told;
  const PreTokenizerRule* rule = nullptr;
  if (metadata.has("tokenizer.pagoda.split_kinds")) {
    PAGODA_ASSIGN(told, told_rule(metadata));
    rule = &told->rule;
  } else {
    PAGODA_ASSIGN(rule, named_rule(metadata));
  }
  PAGODA_ASSIGN(PreTokenizer pre_tokenizer, PreTokenizer::make(*rule));
  BoundaryDefaults defaults;
  defaults.add_bos = rule->add_bos;
  PAGODA_ASSIGN(Vocabulary vocabulary, Vocabulary::load(metadata, PieceSpelling::kByteAlphabet, defaults));
  std::unique_ptr<ByteLevelTokenizer> tokenizer(new ByteLevelTokenizer(
      std::move(vocabulary), strips_after_special(metadata), std::move(pre_tokenizer), *rule));
  PAGODA_TRY(tokenizer->read_merges(metadata));
  return tokenizer;
}

// A merge is written as two pieces in the vocabulary's spelling with a space between.
Status ByteLevelTokenizer::read_merges(const model::WeightMetadata& metadata) {
  const auto* merges = metadata.texts(kMergesKey);
  if (merges == nullptr) {
    return fail(ErrorCode::kCorruptData, format("byte-pair encoding needs {}, which is missing", kMergesKey));
  }
  const auto& tokens = *metadata.texts("tokenizer.ggml.tokens");
  std::unordered_map<std::string_view, int32_t> token_of;
  token_of.reserve(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) token_of.emplace(tokens[i], static_cast<int32_t>(i));
  const auto find = [&](std::string_view piece) {
    const auto found = token_of.find(piece);
    return found == token_of.end() ? -1 : found->second;
  };
  merges_.reserve(merges->size());
  size_t dangling = 0;
  std::string merged;
  for (size_t rank = 0; rank < merges->size(); ++rank) {
    const std::string_view merge = (*merges)[rank];
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos) {
      return fail(ErrorCode::kCorruptData,
                  format("{}: entry {} is not two pieces with a space between", kMergesKey, rank));
    }
    merged.assign(merge.substr(0, space)).append(merge.substr(space + 1));
    const int32_t left = find(merge.substr(0, space)), right = find(merge.substr(space + 1)),
                  whole = find(merged);
    if (left < 0 || right < 0 || whole < 0) {
      ++dangling;
    } else {
      merges_.insert(left, right, static_cast<uint32_t>(rank), whole);
    }
  }
  if (dangling > 0)
    log::warning("{}: {} merges name pieces that are no tokens; left out", kMergesKey, dangling);
  return {};
}

void ByteLevelTokenizer::encode_text(std::string_view text, std::vector<int32_t>& out) const {
  // Broken UTF-8 has no words: each broken piece's bytes are encoded as they are, so that nothing is lost.
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    if (valid > 0) encode_valid(text.substr(0, valid), out);
    text.remove_prefix(valid);
    if (text.empty()) break;
    const auto broken = static_cast<size_t>(first_utf8_char(text).length);
    encode_word(text.substr(0, broken), out);
    text.remove_prefix(broken);
  }
}

void ByteLevelTokenizer::encode_valid(std::string_view text, std::vector<int32_t>& out) const {
  std::string normal;
  if (nfc_ && may_need_nfc(text)) {
    normal = to_nfc(text);
    text = normal;
  }
  std::vector<std::string_view> words;
  words.reserve(text.size() / 4 + 1);
  pre_tokenizer_.split(text, words);
  for (const std::string_view word : words) encode_word(word, out);
}

void ByteLevelTokenizer::encode_word(std::string_view word, std::vector<int32_t>& out) const {
  const int32_t token = vocabulary().find_word(word);
  if (token < 0) return merge_word(word, out);
  if (whole_words_first_ || known_words_.get(token) == KnownWords::Answer::kItself) {
    out.push_back(token);
    return;
  }
  const size_t before = out.size();
  merge_word(word, out);
  known_words_.set(token, out.size() == before + 1 && out.back() == token);
}

void ByteLevelTokenizer::merge_word(std::string_view word, std::vector<int32_t>& out) const {
  Symbol short_word[kScanLimit];
  std::vector<Symbol> long_word(word.size() > kScanLimit ? word.size() : 0);
  const std::span<Symbol> symbols(long_word.empty() ? short_word : long_word.data(), word.size());
  // A byte that the vocabulary lacks is dropped before anything merges, as the reference does: <unk> in the
  // midst of a text would be read as the special token that it is.
  size_t count = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    const int32_t token = token_of_byte_[static_cast<unsigned char>(word[i])];
    if (token >= 0) symbols[count++] = {static_cast<uint32_t>(i), 1, token};
  }
  count = merge_pairs(symbols.first(count), [this](const Symbol& left, const Symbol& right) {
    return merges_.find(left.token, right.token);
  });
  for (size_t i = 0; i < count; ++i) out.push_back(symbols[i].token);
}

}  // namespace pagoda::text
