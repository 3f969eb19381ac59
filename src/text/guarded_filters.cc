// The filters whose engine's version differs from Python's, or makes text without bound.
#include <algorithm>

#include "text/guarded_expressions.h"
#include "text/guarded_node.h"
#include "text/python_text.h"
#include "text/render_budget.h"

namespace pagoda::text {
namespace {

using jinja::context;

// The arguments of tojson, positional in this order or by name.
JsonStyle json_style(const jinja::func_args& args) {
  JsonStyle style;
  style.ensure_ascii = args.get_kwarg_or_pos("ensure_ascii", 0)->as_bool();
  style.sort_keys = args.get_kwarg_or_pos("sort_keys", 3)->as_bool();
  const value indent = args.get_kwarg_or_pos("indent", 1);
  if (is_integer(indent) || is_val<jinja::value_bool>(indent)) {
    style.pretty = true;
    style.indent.assign(static_cast<size_t>(std::clamp<int64_t>(indent->as_int(), 0, 100)), ' ');
  } else if (is_string(indent)) {
    style.pretty = true;
    style.indent = python_str(indent);
  }
  if (style.pretty) style.item_separator = ",";
  const value separators = args.get_kwarg_or_pos("separators", 2);
  if (is_val<jinja::value_array>(separators) && separators->as_array().size() == 2) {
    style.item_separator = python_str(separators->as_array()[0]);
    style.key_separator = python_str(separators->as_array()[1]);
  }
  return style;
}

struct ToJson final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    const auto& node = static_cast<const jinja::filter_expression&>(*inner);
    jinja::func_args args(ctx);
    if (const auto* call = jinja::cast_stmt<jinja::call_expression>(node.filter)) {
      for (const statement_ptr& argument : call->args) args.push_back(argument->execute(ctx));
    }
    const std::string text = python_json(node.operand->execute(ctx), json_style(args));
    RenderBudget::spend(text.size());
    return mk_val<jinja::value_string>(text);
  }
};

// x | string, x | safe, x | escape.
struct ToText final : Wrapper {
  ToText(statement_ptr node, const std::string& filter) : Wrapper(std::move(node)), name(filter) {}
  value execute_impl(context& ctx) const override {
    const value operand = static_cast<const jinja::filter_expression&>(*inner).operand->execute(ctx);
    std::string text = python_str(operand);
    if ((name == "e" || name == "escape") && !is_markup(operand)) text = escaped(text);
    RenderBudget::spend(text.size());
    return name == "string" && !is_markup(operand) ? mk_val<jinja::value_string>(text) : markup(text);
  }
  std::string name;
};

// x | default(value, boolean): None is a value.
struct Default final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    const auto& node = static_cast<const jinja::filter_expression&>(*inner);
    value operand = node.operand->execute(ctx);
    jinja::func_args args(ctx);
    if (const auto* call = jinja::cast_stmt<jinja::call_expression>(node.filter)) {
      for (const statement_ptr& argument : call->args) args.push_back(argument->execute(ctx));
    }
    const bool falsy_too = args.get_kwarg_or_pos("boolean", 1)->as_bool();
    if (!operand->is_undefined() && !(falsy_too && !operand->as_bool())) return operand;
    const value otherwise = args.get_kwarg_or_pos("default_value", 0);
    return otherwise->is_undefined() ? mk_val<jinja::value_string>(std::string()) : otherwise;
  }
};

// x | length: of a text, in characters; the engine counts bytes.
struct Length final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    value operand = static_cast<const jinja::filter_expression&>(*inner).operand->execute(ctx);
    if (is_string(operand)) {
      const auto count = static_cast<int64_t>(characters(python_str(operand)).size());
      return mk_val<jinja::value_int>(count);
    }
    jinja::filter_expression once(literal(std::move(operand)), std::make_unique<jinja::identifier>("length"));
    once.pos = pos;
    return once.execute(ctx);
  }
};

const std::string& filter_name(const jinja::filter_expression& node) {
  static const std::string kNone;
  if (const auto* name = jinja::cast_stmt<jinja::identifier>(node.filter)) return name->val;
  if (const auto* call = jinja::cast_stmt<jinja::call_expression>(node.filter)) {
    if (const auto* name = jinja::cast_stmt<jinja::identifier>(call->callee)) return name->val;
  }
  return kNone;
}

}  // namespace

statement_ptr make_filter(statement_ptr filter) {
  const auto& node = static_cast<const jinja::filter_expression&>(*filter);
  const std::string& name = filter_name(node);
  if (name == "tojson") return std::make_unique<ToJson>(std::move(filter));
  if (name == "string" || name == "safe" || name == "e" || name == "escape") {
    const std::string kept = name;
    return std::make_unique<ToText>(std::move(filter), kept);
  }
  if (name == "default" || name == "d") return std::make_unique<Default>(std::move(filter));
  if (name == "length" || name == "count") return std::make_unique<Length>(std::move(filter));
  return make_counted(std::move(filter));
}

}  // namespace pagoda::text
