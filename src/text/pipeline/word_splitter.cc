#include "text/pipeline/word_splitter.h"

#include <functional>
#include <optional>
#include <utility>

#include "text/byte_alphabet.h"
#include "text/pipeline/text_pattern.h"
#include "text/pre_tokenizer_rules.h"
#include "text/reference_characters.h"
#include "text/unicode_classes.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

using Step = Result<std::unique_ptr<SplitterStep>>;

class PatternStep final : public SplitterStep {
 public:
  PatternStep(TextPattern pattern, SplitBehaviour behaviour)
      : pattern_(std::move(pattern)), behaviour_(behaviour) {}

  void split(Word word, std::vector<Word>& out) const override {
    for (const TextSpan& span : split_at(pattern_.spans(word.text), behaviour_)) {
      if (span.begin == span.end) continue;
      out.push_back(
          {word.text.substr(span.begin, span.end - span.begin), word.begins_the_text && span.begin == 0});
    }
  }

 private:
  TextPattern pattern_;
  SplitBehaviour behaviour_;
};

Step pattern_step(Result<TextPattern> pattern, SplitBehaviour behaviour) {
  if (!pattern) return Unexpected(std::move(pattern).error());
  return std::make_unique<PatternStep>(std::move(*pattern), behaviour);
}

// Spaces become "▁", which words then begin with.
class Metaspace final : public SplitterStep {
 public:
  enum class Prepend { kAlways, kFirst, kNever };
  Metaspace(std::string mark, Prepend prepend, bool splits)
      : mark_(std::move(mark)), prepend_(prepend), splits_(splits) {}

  void split(Word word, std::vector<Word>& out) const override {
    std::string text;
    for (const char c : word.text) c == ' ' ? void(text += mark_) : void(text += c);
    const bool wanted = prepend_ == Prepend::kAlways || (prepend_ == Prepend::kFirst && word.begins_the_text);
    if (wanted && !text.starts_with(mark_)) text.insert(0, mark_);
    if (!splits_) {
      out.push_back({std::move(text), word.begins_the_text});
      return;
    }
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(mark_, begin + 1), text.size());
      out.push_back({text.substr(begin, end - begin), word.begins_the_text && begin == 0});
      begin = end;
    }
  }

 private:
  std::string mark_;
  Prepend prepend_;
  bool splits_;
};

Step metaspace_step(const Json& part) {
  using Prepend = Metaspace::Prepend;
  std::string scheme = json_text(part, "prepend_scheme");
  // Older files say it by a flag.
  if (scheme.empty()) scheme = json_flag(part, "add_prefix_space", true) ? "always" : "never";
  const std::string mark = json_text(part, "replacement", "\xE2\x96\x81");
  if (mark.empty() || (scheme != "always" && scheme != "first" && scheme != "never"))
    return unsupported_part("pre-tokenizer", part);
  return std::make_unique<Metaspace>(mark,
                                     scheme == "always"  ? Prepend::kAlways
                                     : scheme == "first" ? Prepend::kFirst
                                                         : Prepend::kNever,
                                     json_flag(part, "split", true));
}

class ByteLevel final : public SplitterStep {
 public:
  ByteLevel(bool add_prefix_space, std::optional<TextPattern> words)
      : add_prefix_space_(add_prefix_space), words_(std::move(words)) {}

  void split(Word word, std::vector<Word>& out) const override {
    if (add_prefix_space_ && !word.text.starts_with(' ')) word.text.insert(0, " ");
    if (!words_) {
      out.push_back({alphabet_of_bytes(word.text), word.begins_the_text});
      return;
    }
    for (const TextSpan& span : words_->spans(word.text)) {
      if (span.begin == span.end) continue;
      out.push_back({alphabet_of_bytes(std::string_view(word.text).substr(span.begin, span.end - span.begin)),
                     word.begins_the_text && span.begin == 0});
    }
  }

 private:
  bool add_prefix_space_;
  std::optional<TextPattern> words_;
};

Step byte_level_step(const Json& part) {
  std::optional<TextPattern> words;
  if (json_flag(part, "use_regex", true)) {
    PAGODA_ASSIGN(auto pattern,
                  TextPattern::regex(find_pre_tokenizer_rule("gpt-2")->steps.front().pattern, false));
    words = std::move(pattern);
  }
  return std::make_unique<ByteLevel>(json_flag(part, "add_prefix_space", true), std::move(words));
}

class FixedLength final : public SplitterStep {
 public:
  explicit FixedLength(size_t characters) : characters_(characters) {}
  void split(Word word, std::vector<Word>& out) const override {
    for (size_t begin = 0; begin < word.text.size();) {
      size_t end = begin;
      for (size_t i = 0; i < characters_ && end < word.text.size(); ++i)
        end += static_cast<size_t>(first_utf8_char(std::string_view(word.text).substr(end)).length);
      out.push_back({word.text.substr(begin, end - begin), word.begins_the_text && begin == 0});
      begin = end;
    }
  }

 private:
  size_t characters_;
};

std::optional<SplitBehaviour> behaviour_of(const Json& part, const char* otherwise) {
  constexpr std::pair<std::string_view, SplitBehaviour> kNames[] = {
      {"Removed", SplitBehaviour::kRemoved},
      {"Isolated", SplitBehaviour::kIsolated},
      {"MergedWithPrevious", SplitBehaviour::kMergedWithPrevious},
      {"MergedWithNext", SplitBehaviour::kMergedWithNext},
      {"Contiguous", SplitBehaviour::kContiguous}};
  const std::string name = json_text(part, "behavior", otherwise);
  for (const auto& [known, behaviour] : kNames) {
    if (known == name) return behaviour;
  }
  return std::nullopt;
}

Step split_step(const Json& part) {
  const auto behaviour = behaviour_of(part, "");
  const Json& pattern = json_child(part, "pattern");
  const bool invert = json_flag(part, "invert", false);
  if (!behaviour) return unsupported_part("pre-tokenizer", part);
  if (json_child(pattern, "Regex").is_string())
    return pattern_step(TextPattern::regex(json_text(pattern, "Regex"), invert), *behaviour);
  if (json_child(pattern, "String").is_string())
    return pattern_step(TextPattern::literal(json_text(pattern, "String"), invert), *behaviour);
  return unsupported_part("pre-tokenizer", part);
}

Step simple_step(const Json& part, const std::string& type) {
  using enum SplitBehaviour;
  if (type == "WhitespaceSplit") return pattern_step(TextPattern::characters(is_white_space), kRemoved);
  if (type == "Punctuation") {
    const auto behaviour = behaviour_of(part, "Isolated");
    if (behaviour) return pattern_step(TextPattern::characters(is_punctuation), *behaviour);
  }
  if (type == "Digits") {
    return pattern_step(TextPattern::regex(format("[\\p{{N}}{}]", kNewerNumbers), false),
                        json_flag(part, "individual_digits", false) ? kIsolated : kContiguous);
  }
  if (type == "CharDelimiterSplit" && !json_text(part, "delimiter").empty())
    return pattern_step(TextPattern::literal(json_text(part, "delimiter"), false), kRemoved);
  if (type == "FixedLength" && json_integer(part, "length", 0) > 0)
    return std::make_unique<FixedLength>(static_cast<size_t>(json_integer(part, "length", 0)));
  return unsupported_part("pre-tokenizer", part);
}

// Runs of word characters, and runs of what is neither they nor white space.
class WordsAndMarks final : public SplitterStep {
 public:
  void split(Word word, std::vector<Word>& out) const override {
    enum class Kind { kSpace, kWord, kMark };
    const auto kind_at = [&](size_t at, size_t& length) {
      const Utf8Char character = first_utf8_char(std::string_view(word.text).substr(at));
      length = static_cast<size_t>(character.length);
      if (is_word_character(character.code_point)) return Kind::kWord;
      return is_white_space(character.code_point) ? Kind::kSpace : Kind::kMark;
    };
    for (size_t begin = 0; begin < word.text.size();) {
      size_t length = 0;
      const Kind kind = kind_at(begin, length);
      size_t end = begin + length;
      while (end < word.text.size() && kind_at(end, length) == kind) end += length;
      if (kind != Kind::kSpace)
        out.push_back({word.text.substr(begin, end - begin), word.begins_the_text && begin == 0});
      begin = end;
    }
  }
};

Status append_steps(const Json& part, std::vector<std::unique_ptr<SplitterStep>>& steps) {
  if (part.is_null()) return {};
  const std::string type = json_text(part, "type");
  if (type == "Sequence") {
    for (const Json& inner : json_child(part, "pretokenizers")) PAGODA_TRY(append_steps(inner, steps));
    return {};
  }
  if (type == "BertPreTokenizer") {
    steps.push_back(*pattern_step(TextPattern::characters(is_white_space), SplitBehaviour::kRemoved));
    steps.push_back(*pattern_step(TextPattern::characters(is_punctuation), SplitBehaviour::kIsolated));
    return {};
  }
  Step step = type == "Split"        ? split_step(part)
              : type == "Metaspace"  ? metaspace_step(part)
              : type == "ByteLevel"  ? byte_level_step(part)
              : type == "Whitespace" ? Step(std::make_unique<WordsAndMarks>())
                                     : simple_step(part, type);
  if (!step) return Unexpected(std::move(step).error());
  steps.push_back(std::move(*step));
  return {};
}

}  // namespace

Result<WordSplitter> WordSplitter::make(const Json& part) {
  WordSplitter splitter;
  PAGODA_TRY(append_steps(part, splitter.steps_));
  return splitter;
}

void WordSplitter::split(Word text, std::vector<Word>& out) const {
  std::vector<Word> before, after;
  before.push_back(std::move(text));
  for (const auto& step : steps_) {
    after.clear();
    for (Word& word : before) step->split(std::move(word), after);
    before.swap(after);
  }
  for (Word& word : before) out.push_back(std::move(word));
}

}  // namespace pagoda::text
