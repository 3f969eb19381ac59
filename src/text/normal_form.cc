#include "text/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "text/reference_characters_table.h"
#include "text/unicode_classes.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

int combining_class(utf8proc_int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

bool is_in(const CodePointRange* ranges, int count, char32_t code_point) {
  const CodePointRange* end = ranges + count;
  const CodePointRange* range = std::lower_bound(
      ranges, end, code_point, [](const CodePointRange& r, char32_t c) { return r.last < c; });
  return range != end && range->first <= code_point;
}

bool is_inert(char32_t code_point, NormalForm form) {
  const bool compatibility = form == NormalForm::kKC || form == NormalForm::kKD;
  return is_in(kInertCodePoints, kInertCodePointRangeCount, code_point) ||
         (compatibility && is_in(kInertForCompatibility, kInertForCompatibilityCount, code_point));
}

bool composes(NormalForm form) {
  return form == NormalForm::kC || form == NormalForm::kKC;
}

std::vector<utf8proc_int32_t> decompose(std::string_view text, NormalForm form) {
  const bool compatibility = form == NormalForm::kKC || form == NormalForm::kKD;
  const int options = UTF8PROC_DECOMPOSE | UTF8PROC_STABLE | (compatibility ? UTF8PROC_COMPAT : 0);
  std::vector<utf8proc_int32_t> out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char character = first_utf8_char(text);
    constexpr int kLongestDecomposition = 32;
    utf8proc_int32_t parts[kLongestDecomposition];
    int boundary_class = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character.code_point), parts,
                                               kLongestDecomposition, static_cast<utf8proc_option_t>(options),
                                               &boundary_class);
    PAGODA_CHECK(count > 0 && count <= kLongestDecomposition, "a decomposition has at most 18 parts");
    out.insert(out.end(), parts, parts + count);
    text.remove_prefix(static_cast<size_t>(character.length));
  }
  return out;
}

// The standard's canonical ordering. utf8proc's own is quadratic in a run of marks.
void order_marks(std::vector<utf8proc_int32_t>& code_points) {
  for (size_t i = 0; i < code_points.size();) {
    if (combining_class(code_points[i]) == 0) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < code_points.size() && combining_class(code_points[end]) != 0) ++end;
    std::stable_sort(code_points.begin() + static_cast<std::ptrdiff_t>(i),
                     code_points.begin() + static_cast<std::ptrdiff_t>(end),
                     [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    i = end;
  }
}

// Appends the normal form of a text without inert characters.
void append_form(std::string_view text, NormalForm form, std::string& out) {
  std::vector<utf8proc_int32_t> code_points = decompose(text, form);
  order_marks(code_points);
  if (!composes(form)) {
    for (const utf8proc_int32_t code_point : code_points) append_utf8(out, static_cast<char32_t>(code_point));
    return;
  }
  const auto count =
      utf8proc_normalize_utf32(code_points.data(), static_cast<utf8proc_ssize_t>(code_points.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  PAGODA_CHECK(count >= 0, "composing shortens");
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    append_utf8(out, static_cast<char32_t>(code_points[static_cast<size_t>(i)]));
  }
}

}  // namespace

bool may_need_nfc(std::string_view text) {
  // No character below U+0300 takes part in a composition that another below it begins; 0xCC leads U+0300.
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0xCC; });
}

std::string to_normal_form(std::string_view text, NormalForm form) {
  std::string out;
  out.reserve(text.size());
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char character = first_utf8_char(text.substr(at));
    const size_t next = at + static_cast<size_t>(character.length);
    if (is_inert(character.code_point, form)) {
      append_form(text.substr(begin, at - begin), form, out);
      out += text.substr(at, next - at);
      begin = next;
    }
    at = next;
  }
  append_form(text.substr(begin), form, out);
  return out;
}

}  // namespace pagoda::text
