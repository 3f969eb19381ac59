#include "text/pipeline/normalizer.h"

#include <functional>

#include "text/byte_alphabet.h"
#include "text/normal_form.h"
#include "text/pipeline/precompiled_charsmap.h"
#include "text/reference_characters.h"
#include "text/unicode_regex.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

using Step = Result<std::unique_ptr<NormalizerStep>>;

// Every character becomes what the function appends for it.
template <class Append>
std::string map_characters(std::string_view text, const Append& append) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char character = first_utf8_char(text.substr(at));
    const auto length = static_cast<size_t>(character.length);
    append(out, character.code_point, text.substr(at, length));
    at += length;
  }
  return out;
}

// A step that is a function of the text alone.
class FunctionStep final : public NormalizerStep {
 public:
  explicit FunctionStep(std::function<std::string(std::string)> function) : function_(std::move(function)) {}
  std::string apply(std::string text) const override { return function_(std::move(text)); }

 private:
  std::function<std::string(std::string)> function_;
};

Step function_step(std::function<std::string(std::string)> function) {
  return std::make_unique<FunctionStep>(std::move(function));
}

std::string lower(std::string_view text) {
  return map_characters(text, [](std::string& out, char32_t c, std::string_view) { append_lower(out, c); });
}

std::string without_accents(std::string_view text) {
  return map_characters(text, [](std::string& out, char32_t c, std::string_view bytes) {
    if (!is_combining_mark(c)) out += bytes;
  });
}

std::string stripped(std::string text, bool left, bool right) {
  size_t begin = 0, end = text.size();
  while (left && begin < end) {
    const Utf8Char character = first_utf8_char(std::string_view(text).substr(begin));
    if (!is_white_space(character.code_point)) break;
    begin += static_cast<size_t>(character.length);
  }
  while (right && end > begin) {
    size_t last = end - 1;
    while (last > begin && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
    if (!is_white_space(first_utf8_char(std::string_view(text).substr(last)).code_point)) break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

bool is_cjk_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

struct BertSettings {
  bool clean = true, space_ideographs = true, strip_accents = true, lowercase = true;
};

std::string bert_normalised(std::string text, const BertSettings& settings) {
  if (settings.clean) {
    text = map_characters(text, [](std::string& out, char32_t c, std::string_view bytes) {
      if (c == 0xFFFD || is_control_or_unassigned(c)) return;
      out += is_white_space(c) ? std::string_view(" ") : bytes;
    });
  }
  if (settings.space_ideographs) {
    text = map_characters(text, [](std::string& out, char32_t c, std::string_view bytes) {
      const bool apart = is_cjk_ideograph(c);
      if (apart) out += ' ';
      out += bytes;
      if (apart) out += ' ';
    });
  }
  if (settings.strip_accents) {
    text = map_characters(to_normal_form(text, NormalForm::kD),
                          [](std::string& out, char32_t c, std::string_view bytes) {
                            if (!is_nonspacing_mark(c)) out += bytes;
                          });
  }
  return settings.lowercase ? lower(text) : text;
}

Step bert_step(const Json& part) {
  BertSettings settings;
  settings.clean = json_flag(part, "clean_text", true);
  settings.space_ideographs = json_flag(part, "handle_chinese_chars", true);
  settings.lowercase = json_flag(part, "lowercase", true);
  settings.strip_accents = json_flag(part, "strip_accents", settings.lowercase);
  return function_step([settings](std::string text) { return bert_normalised(std::move(text), settings); });
}

// What the preparation for machine translation drops, and what it makes a space.
std::string nmt_normalised(std::string_view text) {
  return map_characters(text, [](std::string& out, char32_t c, std::string_view bytes) {
    if ((c >= 0x1 && c <= 0x8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F)
      return;
    const bool space = c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
                       (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                       c == 0xFEFF || c == 0xFFFD;
    out += space ? std::string_view(" ") : bytes;
  });
}

std::string replaced(std::string_view text, std::string_view pattern, std::string_view content) {
  std::string out;
  for (size_t at = 0; !pattern.empty();) {
    const size_t found = text.find(pattern, at);
    out += text.substr(at, found - at);
    if (found == std::string_view::npos) return out;
    out += content;
    at = found + pattern.size();
  }
  return std::string(text);
}

class ReplaceRegex final : public NormalizerStep {
 public:
  ReplaceRegex(UnicodeRegex regex, std::string content)
      : regex_(std::move(regex)), content_(std::move(content)) {}
  std::string apply(std::string text) const override {
    std::string out;
    size_t done = 0;
    for (size_t from = 0; from < text.size();) {
      const UnicodeRegex::Match match = regex_.find(text, from);
      if (!match.found) break;
      if (match.end == match.begin) {
        from = match.begin + 1;
        while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
        continue;
      }
      out.append(text, done, match.begin - done).append(content_);
      done = from = match.end;
    }
    return out.append(text, done);
  }

 private:
  UnicodeRegex regex_;
  std::string content_;
};

Step replace_step(const Json& part) {
  const Json& pattern = json_child(part, "pattern");
  std::string content = json_text(part, "content");
  if (json_child(pattern, "Regex").is_string()) {
    PAGODA_ASSIGN(UnicodeRegex regex, UnicodeRegex::compile(json_text(pattern, "Regex")));
    return std::make_unique<ReplaceRegex>(std::move(regex), std::move(content));
  }
  if (!json_child(pattern, "String").is_string()) return unsupported_part("normalizer", part);
  return function_step([literal = json_text(pattern, "String"), content = std::move(content)](
                           std::string text) { return replaced(text, literal, content); });
}

Step form_step(NormalForm form) {
  return function_step([form](std::string text) { return to_normal_form(text, form); });
}

// nullptr: the type is not known.
Step make_step(const Json& part) {
  const std::string type = json_text(part, "type");
  if (type == "NFC") return form_step(NormalForm::kC);
  if (type == "NFD") return form_step(NormalForm::kD);
  if (type == "NFKC") return form_step(NormalForm::kKC);
  if (type == "NFKD") return form_step(NormalForm::kKD);
  if (type == "Lowercase") return function_step([](std::string text) { return lower(text); });
  if (type == "StripAccents") return function_step([](std::string text) { return without_accents(text); });
  if (type == "Nmt") return function_step([](std::string text) { return nmt_normalised(text); });
  if (type == "ByteLevel") return function_step([](std::string text) { return alphabet_of_bytes(text); });
  if (type == "BertNormalizer") return bert_step(part);
  if (type == "Replace") return replace_step(part);
  if (type == "Precompiled") return PrecompiledCharsmap::make(json_text(part, "precompiled_charsmap"));
  if (type == "Prepend") {
    return function_step([prefix = json_text(part, "prepend")](std::string text) {
      return text.empty() ? text : prefix + text;
    });
  }
  if (type == "Strip") {
    return function_step([left = json_flag(part, "strip_left", true),
                          right = json_flag(part, "strip_right", true)](std::string text) {
      return stripped(std::move(text), left, right);
    });
  }
  return unsupported_part("normalizer", part);
}

Status append_steps(const Json& part, std::vector<std::unique_ptr<NormalizerStep>>& steps) {
  if (part.is_null()) return {};
  if (json_text(part, "type") == "Sequence") {
    for (const Json& inner : json_child(part, "normalizers")) PAGODA_TRY(append_steps(inner, steps));
    return {};
  }
  PAGODA_ASSIGN(auto step, make_step(part));
  steps.push_back(std::move(step));
  return {};
}

}  // namespace

Result<Normalizer> Normalizer::make(const Json& part) {
  Normalizer normalizer;
  PAGODA_TRY(append_steps(part, normalizer.steps_));
  return normalizer;
}

std::string Normalizer::apply(std::string text) const {
  for (const auto& step : steps_) text = step->apply(std::move(text));
  return text;
}

}  // namespace pagoda::text
