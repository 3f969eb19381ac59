#include "text/pre_tokenizer.h"

#include "base/format.h"
#include "text/unicode_classes.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

size_t char_length(std::string_view text, size_t at) {
  return static_cast<size_t>(first_utf8_char(text.substr(at)).length);
}

// A run of digits in threes, the first group being what is left over.
void append_triples(std::string_view run, std::vector<std::string_view>& words) {
  std::vector<size_t> begins;
  for (size_t at = 0; at < run.size(); at += char_length(run, at)) begins.push_back(at);
  const size_t digits = begins.size();
  for (size_t i = 0; i < digits;) {
    const size_t group = i == 0 && digits % 3 != 0 ? digits % 3 : 3;
    const size_t end = i + group < digits ? begins[i + group] : run.size();
    words.push_back(run.substr(begins[i], end - begins[i]));
    i += group;
  }
}

// 0-9 and the bytes that GPT-2's alphabet writes as ² ³ ¹ ¼ ½ ¾.
bool is_byte_digit(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= '0' && byte <= '9') || byte == 0xB2 || byte == 0xB3 || byte == 0xB9 ||
         (byte >= 0xBC && byte <= 0xBE);
}

// A run of byte digits: every three ASCII digits are a word, and so is what lies between.
void append_byte_digits(std::string_view run, std::vector<std::string_view>& words) {
  const auto is_ascii = [&](size_t i) { return static_cast<unsigned char>(run[i]) < 0x80; };
  size_t done = 0;
  for (size_t i = 0; i + 3 <= run.size();) {
    if (!is_ascii(i) || !is_ascii(i + 1) || !is_ascii(i + 2)) {
      ++i;
      continue;
    }
    if (i > done) words.push_back(run.substr(done, i - done));
    words.push_back(run.substr(i, 3));
    done = i += 3;
  }
  if (done < run.size()) words.push_back(run.substr(done));
}

void split_byte_digits(std::string_view text, std::vector<std::string_view>& words) {
  for (size_t begin = 0; begin < text.size();) {
    const bool digits = is_byte_digit(text[begin]);
    size_t end = begin + 1;
    while (end < text.size() && is_byte_digit(text[end]) == digits) ++end;
    const std::string_view part = text.substr(begin, end - begin);
    if (digits) {
      append_byte_digits(part, words);
    } else {
      words.push_back(part);
    }
    begin = end;
  }
}

void split_at_matches(std::string_view text, SplitKind kind, const UnicodeRegex& regex,
                      std::vector<std::string_view>& words) {
  if (kind == SplitKind::kByteDigits) return split_byte_digits(text, words);
  size_t done = 0, from = 0;
  while (from < text.size()) {
    const UnicodeRegex::Match match = regex.find(text, from);
    if (!match.found) break;
    if (match.end == match.begin) {
      from = match.begin + (match.begin < text.size() ? char_length(text, match.begin) : 1);
      continue;
    }
    if (match.begin > done) words.push_back(text.substr(done, match.begin - done));
    const std::string_view word = text.substr(match.begin, match.end - match.begin);
    if (kind == SplitKind::kDigitTriples) {
      append_triples(word, words);
    } else {
      words.push_back(word);
    }
    done = from = match.end;
  }
  if (done < text.size()) words.push_back(text.substr(done));
}

}  // namespace

Result<PreTokenizer> PreTokenizer::make(const PreTokenizerRule& rule) {
  PreTokenizer made;
  for (const SplitStep& step : rule.steps) {
    const std::string pattern = step.kind == SplitKind::kEachDigit ? format("[\\p{{N}}{}]", kNewerNumbers)
                                                                   : std::string(step.pattern);
    PAGODA_ASSIGN(UnicodeRegex regex, UnicodeRegex::compile(pattern));
    made.steps_.push_back({step.kind, std::move(regex)});
  }
  return made;
}

void PreTokenizer::split(std::string_view text, std::vector<std::string_view>& words) const {
  if (text.empty()) return;
  if (steps_.size() == 1) return split_at_matches(text, steps_[0].kind, steps_[0].regex, words);
  std::vector<std::string_view> before = {text}, after;
  for (size_t i = 0; i < steps_.size(); ++i) {
    auto& target = i + 1 == steps_.size() ? words : after;
    for (const std::string_view word : before)
      split_at_matches(word, steps_[i].kind, steps_[i].regex, target);
    before.swap(after);
    after.clear();
  }
}

}  // namespace pagoda::text
