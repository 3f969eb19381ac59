#include "text/pipeline/text_pattern.h"

#include <algorithm>

#include "text/utf8.h"

namespace pagoda::text {
namespace {

size_t character_length(std::string_view text, size_t at) {
  return static_cast<size_t>(first_utf8_char(text.substr(at)).length);
}

// From the matches to a cover of the text.
class Cover {
 public:
  explicit Cover(std::string_view text) : size_(text.size()) {}
  void match(size_t begin, size_t end) {
    if (begin > done_) spans_.push_back({done_, begin, false});
    spans_.push_back({begin, end, true});
    done_ = end;
  }
  std::vector<TextSpan> finish() {
    if (done_ < size_) spans_.push_back({done_, size_, false});
    return std::move(spans_);
  }

 private:
  size_t size_, done_ = 0;
  std::vector<TextSpan> spans_;
};

std::vector<TextSpan> contiguous(const std::vector<TextSpan>& spans) {
  std::vector<TextSpan> out;
  for (const TextSpan& span : spans) {
    if (!out.empty() && out.back().is_match == span.is_match) {
      out.back().end = span.end;
    } else {
      out.push_back(span);
    }
  }
  return out;
}

// A match joins what stands before it, unless that is a match itself.
std::vector<TextSpan> merged_with_previous(const std::vector<TextSpan>& spans) {
  std::vector<TextSpan> out;
  bool after_match = false;
  for (const TextSpan& span : spans) {
    if (span.is_match && !after_match && !out.empty()) {
      out.back().end = span.end;
    } else {
      out.push_back(span);
    }
    after_match = span.is_match;
  }
  return out;
}

std::vector<TextSpan> merged_with_next(const std::vector<TextSpan>& spans) {
  std::vector<TextSpan> out;  // from the last to the first
  bool before_match = false;
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    if (span->is_match && !before_match && !out.empty()) {
      out.back().begin = span->begin;
    } else {
      out.push_back(*span);
    }
    before_match = span->is_match;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

Result<TextPattern> TextPattern::regex(std::string_view pattern, bool invert) {
  TextPattern made;
  PAGODA_ASSIGN(made.regex_, UnicodeRegex::compile(pattern));
  made.invert_ = invert;
  return made;
}

Result<TextPattern> TextPattern::literal(std::string text, bool invert) {
  TextPattern made;
  made.literal_ = std::move(text);
  made.invert_ = invert;
  return made;
}

Result<TextPattern> TextPattern::characters(Predicate is_match) {
  TextPattern made;
  made.predicate_ = is_match;
  return made;
}

std::vector<TextSpan> TextPattern::regex_spans(std::string_view text) const {
  Cover cover(text);
  for (size_t from = 0; from < text.size();) {
    const UnicodeRegex::Match match = regex_->find(text, from);
    if (!match.found) break;
    if (match.end == match.begin) {
      from = match.begin < text.size() ? match.begin + character_length(text, match.begin) : text.size();
      continue;
    }
    cover.match(match.begin, match.end);
    from = match.end;
  }
  return cover.finish();
}

std::vector<TextSpan> TextPattern::literal_spans(std::string_view text) const {
  Cover cover(text);
  for (size_t at = text.find(literal_); !literal_.empty() && at != std::string_view::npos;
       at = text.find(literal_, at + literal_.size()))
    cover.match(at, at + literal_.size());
  return cover.finish();
}

std::vector<TextSpan> TextPattern::character_spans(std::string_view text) const {
  Cover cover(text);
  for (size_t at = 0; at < text.size();) {
    const Utf8Char character = first_utf8_char(text.substr(at));
    const size_t end = at + static_cast<size_t>(character.length);
    if (predicate_(character.code_point)) cover.match(at, end);
    at = end;
  }
  return cover.finish();
}

std::vector<TextSpan> TextPattern::spans(std::string_view text) const {
  std::vector<TextSpan> spans = regex_       ? regex_spans(text)
                                : predicate_ ? character_spans(text)
                                             : literal_spans(text);
  if (invert_) {
    for (TextSpan& span : spans) span.is_match = !span.is_match;
  }
  return spans;
}

std::vector<TextSpan> split_at(std::vector<TextSpan> spans, SplitBehaviour behaviour) {
  switch (behaviour) {
    case SplitBehaviour::kIsolated:
      return spans;
    case SplitBehaviour::kRemoved:
      std::erase_if(spans, [](const TextSpan& span) { return span.is_match; });
      return spans;
    case SplitBehaviour::kContiguous:
      return contiguous(spans);
    case SplitBehaviour::kMergedWithPrevious:
      return merged_with_previous(spans);
    case SplitBehaviour::kMergedWithNext:
      return merged_with_next(spans);
  }
  return spans;
}

}  // namespace pagoda::text
