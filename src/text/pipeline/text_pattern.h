// Where a text is cut: matches of a regular expression, of a literal, or of single characters, and what
// becomes of the matches.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/unicode_regex.h"

namespace pagoda::text {

struct TextSpan {
  size_t begin = 0, end = 0;  // bytes
  bool is_match = false;
};

class TextPattern {
 public:
  using Predicate = bool (*)(char32_t);
  // `invert`: what lies between the matches is a match, and the other way round.
  static Result<TextPattern> regex(std::string_view pattern, bool invert);
  static Result<TextPattern> literal(std::string text, bool invert);
  static Result<TextPattern> characters(Predicate is_match);

  // Spans that together are the text, in order.
  std::vector<TextSpan> spans(std::string_view text) const;

 private:
  std::vector<TextSpan> regex_spans(std::string_view text) const;
  std::vector<TextSpan> literal_spans(std::string_view text) const;
  std::vector<TextSpan> character_spans(std::string_view text) const;

  std::optional<UnicodeRegex> regex_;
  std::string literal_;
  Predicate predicate_ = nullptr;
  bool invert_ = false;
};

enum class SplitBehaviour { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// The spans to keep; empty ones may be among them.
std::vector<TextSpan> split_at(std::vector<TextSpan> spans, SplitBehaviour behaviour);

}  // namespace pagoda::text
