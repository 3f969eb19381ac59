#include "text/guarded_expressions.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "text/python_text.h"
#include "text/render_budget.h"

namespace pagoda::text {
namespace {

using jinja::context;
using jinja::is_val;
using jinja::mk_val;
using jinja::statement_ptr;
using jinja::value;

bool is_string(const value& v) {
  return is_val<jinja::value_string>(v);
}
bool is_integer(const value& v) {
  return is_val<jinja::value_int>(v);
}

size_t text_size(const value& v) {
  return is_string(v) ? v->val_str.length() : 0;
}

struct Wrapper : jinja::expression {
  explicit Wrapper(statement_ptr node) : inner(std::move(node)) { pos = inner->pos; }
  std::string type() const override { return inner->type(); }
  statement_ptr inner;
};

struct Counted final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    RenderBudget::spend(0);
    value result = inner->execute(ctx);
    RenderBudget::spend(text_size(result));
    return result;
  }
};

struct Output final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    value result = inner->execute(ctx);
    // Functions and undefined values write nothing, as the engine has it.
    if (result->is_none() || is_val<jinja::value_array>(result) || is_val<jinja::value_object>(result) ||
        is_val<jinja::value_float>(result)) {
      result = mk_val<jinja::value_string>(python_str(result));
    }
    RenderBudget::spend(text_size(result));
    return result;
  }
};

// A value that is computed already.
struct Literal final : jinja::expression {
  explicit Literal(value v) : held(std::move(v)) {}
  value execute_impl(context&) const override { return held; }
  value held;
};

struct Operation final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    const auto& node = static_cast<const jinja::binary_expression&>(*inner);
    RenderBudget::spend(0);
    if (node.op.value == "and" || node.op.value == "or") return inner->execute(ctx);
    value left = node.left->execute(ctx), right = node.right->execute(ctx);
    if (node.op.value == "~") return concatenated(left, right);
    if (node.op.value == "*") reserve_repetition(left, right);
    jinja::binary_expression once(node.op, literal(left), literal(right));
    once.pos = pos;
    value result = once.execute(ctx);
    RenderBudget::spend(text_size(result));
    return result;
  }

 private:
  static statement_ptr literal(value v) { return std::make_unique<Literal>(std::move(v)); }

  static value concatenated(const value& left, const value& right) {
    const std::string text = python_str(left) + python_str(right);
    RenderBudget::spend(text.size());
    return mk_val<jinja::value_string>(text);
  }
  // The engine keeps every repetition as a part of its own.
  static void reserve_repetition(const value& left, const value& right) {
    const bool string_first = is_string(left) && is_integer(right);
    if (!string_first && !(is_integer(left) && is_string(right))) return;
    const int64_t times = (string_first ? right : left)->as_int();
    const size_t part = text_size(string_first ? left : right) + 64;
    constexpr int64_t kMostTimes = 1'000'000;
    if (times > kMostTimes) throw BudgetExceeded{"the chat template repeats a text more than 1000000 times"};
    if (times > 0) RenderBudget::spend(part * static_cast<size_t>(times));
  }
};

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

// x | string, x | safe.
struct ToText final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    const std::string text =
        python_str(static_cast<const jinja::filter_expression&>(*inner).operand->execute(ctx));
    RenderBudget::spend(text.size());
    return mk_val<jinja::value_string>(text);
  }
};

// x | escape, with markupsafe's entities.
struct Escaped final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    std::string escaped;
    for (const char c :
         python_str(static_cast<const jinja::filter_expression&>(*inner).operand->execute(ctx))) {
      switch (c) {
        case '&':
          escaped += "&amp;";
          break;
        case '<':
          escaped += "&lt;";
          break;
        case '>':
          escaped += "&gt;";
          break;
        case '\'':
          escaped += "&#39;";
          break;
        case '"':
          escaped += "&#34;";
          break;
        default:
          escaped += c;
      }
    }
    RenderBudget::spend(escaped.size());
    return mk_val<jinja::value_string>(escaped);
  }
};

struct DivisibleBy final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    const auto& node = static_cast<const jinja::test_expression&>(*inner);
    const auto* call = jinja::cast_stmt<jinja::call_expression>(node.test);
    if (call == nullptr || call->args.size() != 1) throw std::runtime_error("divisibleby takes one argument");
    const int64_t number = node.operand->execute(ctx)->as_int(), by = call->args[0]->execute(ctx)->as_int();
    if (by == 0) throw std::runtime_error("integer modulo by zero");
    const bool divisible = by == -1 || number % by == 0;
    return mk_val<jinja::value_bool>(divisible != node.negate);
  }
};

constexpr std::array<std::string_view, 11> kChangingMethods = {"append",  "reverse",    "insert", "sort",
                                                               "extend",  "remove",     "clear",  "pop",
                                                               "popitem", "setdefault", "update"};

struct Member final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    RenderBudget::spend(0);
    value result = inner->execute(ctx);
    const auto* method = jinja::cast_val<jinja::value_func>(result);
    if (method != nullptr && method->arg0 != nullptr && !is_string(method->arg0) &&
        std::find(kChangingMethods.begin(), kChangingMethods.end(), method->name) != kChangingMethods.end()) {
      throw std::runtime_error("access to attribute '" + method->name + "' is unsafe: it changes its object");
    }
    return result;
  }
};

// Looks through a value that is to be stored: it may not hold `container`, nor be nested so deeply that
// freeing or writing it would exhaust the stack.
class StoredValueCheck {
 public:
  explicit StoredValueCheck(value container) : container_(std::move(container)) {}

  void look(const value& part, int depth) {
    if (part == container_) throw std::runtime_error("a value may not contain itself");
    if (depth > kDeepest) throw std::runtime_error("values nested too deeply");
    if (++parts_ % 1024 == 0) RenderBudget::spend(0);
    if (is_val<jinja::value_array>(part)) {
      for (const value& item : part->as_array()) look(item, depth + 1);
    } else if (is_val<jinja::value_object>(part)) {
      for (const auto& [key, item] : part->as_ordered_object()) look(item, depth + 1);
    }
  }

 private:
  static constexpr int kDeepest = 300;
  value container_;
  size_t parts_ = 0;
};

struct Stored final : Wrapper {
  Stored(statement_ptr node, const jinja::statement* where) : Wrapper(std::move(node)), container(where) {}
  value execute_impl(context& ctx) const override {
    value result = inner->execute(ctx);
    if (is_val<jinja::value_array>(result) || is_val<jinja::value_object>(result)) {
      StoredValueCheck(container == nullptr ? nullptr : container->execute(ctx)).look(result, 0);
    }
    return result;
  }
  const jinja::statement* container;
};

const std::string& filter_name(const jinja::filter_expression& node) {
  static const std::string kNone;
  if (const auto* name = jinja::cast_stmt<jinja::identifier>(node.filter)) return name->val;
  if (const auto* call = jinja::cast_stmt<jinja::call_expression>(node.filter)) {
    if (const auto* name = jinja::cast_stmt<jinja::identifier>(call->callee)) return name->val;
  }
  return kNone;
}

bool tests_divisibility(const jinja::test_expression& node) {
  const auto* call = jinja::cast_stmt<jinja::call_expression>(node.test);
  const auto* name = call == nullptr ? nullptr : jinja::cast_stmt<jinja::identifier>(call->callee);
  return name != nullptr && name->val == "divisibleby";
}

}  // namespace

statement_ptr make_output(statement_ptr inner) {
  return std::make_unique<Output>(std::move(inner));
}

statement_ptr make_counted(statement_ptr inner) {
  return std::make_unique<Counted>(std::move(inner));
}

statement_ptr make_operation(statement_ptr binary) {
  return std::make_unique<Operation>(std::move(binary));
}

statement_ptr make_filter(statement_ptr filter) {
  const auto& node = static_cast<const jinja::filter_expression&>(*filter);
  const std::string& name = filter_name(node);
  if (name == "tojson") return std::make_unique<ToJson>(std::move(filter));
  if (name == "string" || name == "safe") return std::make_unique<ToText>(std::move(filter));
  if (name == "e" || name == "escape") return std::make_unique<Escaped>(std::move(filter));
  return std::make_unique<Counted>(std::move(filter));
}

statement_ptr make_test(statement_ptr test) {
  const auto& node = static_cast<const jinja::test_expression&>(*test);
  if (tests_divisibility(node)) return std::make_unique<DivisibleBy>(std::move(test));
  return test;
}

statement_ptr make_member(statement_ptr member) {
  return std::make_unique<Member>(std::move(member));
}

statement_ptr make_stored(statement_ptr value, const jinja::statement* container) {
  return std::make_unique<Stored>(std::move(value), container);
}

}  // namespace pagoda::text
