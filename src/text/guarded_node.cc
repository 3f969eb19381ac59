#include "text/guarded_node.h"

#include "text/utf8.h"

namespace pagoda::text {

bool is_markup(const value& v) {
  return is_string(v) && v->val_str.length() > 0 && v->val_str.all_parts_are_input();
}

value markup(const std::string& text) {
  auto marked = mk_val<jinja::value_string>(text);
  marked->mark_input();
  return marked;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto length = static_cast<size_t>(first_utf8_char(text).length);
    out.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace pagoda::text
