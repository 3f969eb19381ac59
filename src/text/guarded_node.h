// What the nodes in a guarded tree have in common (guarded_expressions.h).
#pragma once

#include <jinja/runtime.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pagoda::text {

using jinja::is_val;
using jinja::mk_val;
using jinja::statement_ptr;
using jinja::value;

// A node that stands for another, at its place in the source.
struct Wrapper : jinja::expression {
  explicit Wrapper(statement_ptr node) : inner(std::move(node)) { pos = inner->pos; }
  std::string type() const override { return inner->type(); }
  statement_ptr inner;
};

// A value that is computed already, for a node of the engine that is made to compute once.
struct Literal final : jinja::expression {
  explicit Literal(value v) : held(std::move(v)) {}
  value execute_impl(jinja::context&) const override { return held; }
  value held;
};
inline statement_ptr literal(value v) {
  return std::make_unique<Literal>(std::move(v));
}

inline bool is_string(const value& v) {
  return is_val<jinja::value_string>(v);
}
inline bool is_integer(const value& v) {
  return is_val<jinja::value_int>(v);
}
inline size_t text_size(const value& v) {
  return is_string(v) ? v->val_str.length() : 0;
}

// Text that "safe" or "escape" made: beside it, other text is escaped (markupsafe's Markup). The engine's
// mark for user's text carries it; no other text is marked here.
bool is_markup(const value& v);
value markup(const std::string& text);
std::string escaped(const std::string& text);

// The characters of a text, each as it stands there.
std::vector<std::string> characters(std::string_view text);

}  // namespace pagoda::text
