#include "text/unicode_classes.h"

namespace pagoda::text {
namespace {

// The name after a backslash ("s", "p{L}", "x{1f}", "n"), as it stands in the pattern.
std::string_view escape_name(std::string_view after_backslash) {
  if (after_backslash.empty()) return {};
  if (after_backslash.size() > 1 && after_backslash[1] == '{') {
    const size_t close = after_backslash.find('}');
    if (close != std::string_view::npos) return after_backslash.substr(0, close + 1);
  }
  return after_backslash.substr(0, 1);
}

void append_escape(std::string& out, std::string_view name, bool in_brackets) {
  if (name == "s" || name == "S") {
    if (in_brackets) {
      out += kWhiteSpace;
    } else {
      out.append(name == "s" ? "[" : "[^").append(kWhiteSpace).append("]");
    }
    return;
  }
  for (int i = 0; i < kUnicodeClassRowCount; ++i) {
    const UnicodeClassRow& row = kUnicodeClassRows[i];
    if (row.name != name) continue;
    out.append(in_brackets ? "\\" : "[\\").append(name).append(row.ranges).append(in_brackets ? "" : "]");
    return;
  }
  out.append("\\").append(name);
}

}  // namespace

std::string spell_out_classes(std::string_view pattern) {
  std::string out;
  bool in_brackets = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      const std::string_view name = escape_name(pattern.substr(i + 1));
      append_escape(out, name, in_brackets);
      i += name.size();
      continue;
    }
    if (pattern[i] == '[') in_brackets = true;
    if (pattern[i] == ']') in_brackets = false;
    out += pattern[i];
  }
  return out;
}

}  // namespace pagoda::text
