#include "text/guarded_expressions.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "text/guarded_node.h"
#include "text/python_text.h"
#include "text/render_budget.h"

namespace pagoda::text {
namespace {

using jinja::context;

struct Counted final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    RenderBudget::spend(0);
    value result = inner->execute(ctx);
    RenderBudget::spend(text_size(result));
    return result;
  }
};

// The engine copies its table of functions at each name that it looks up.
struct Variable final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    const std::string& name = static_cast<const jinja::identifier&>(*inner).val;
    value found = ctx.get_val(name);
    if (!found->is_undefined()) return found;
    const auto& functions = jinja::global_builtins();
    const auto function = functions.find(name);
    if (function != functions.end()) return mk_val<jinja::value_func>(name, function->second);
    return mk_val<jinja::value_undefined>(name);
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

struct Operation final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    const auto& node = static_cast<const jinja::binary_expression&>(*inner);
    RenderBudget::spend(0);
    if (node.op.value == "and" || node.op.value == "or") return inner->execute(ctx);
    value left = node.left->execute(ctx), right = node.right->execute(ctx);
    if (node.op.value == "~") return joined(python_str(left), python_str(right), false);
    if (node.op.value == "+" && is_string(left) && is_string(right)) return added(left, right);
    if (node.op.value == "*") reserve_repetition(left, right);
    jinja::binary_expression once(node.op, literal(left), literal(right));
    once.pos = pos;
    value result = once.execute(ctx);
    RenderBudget::spend(text_size(result));
    return result;
  }

 private:
  static value joined(const std::string& left, const std::string& right, bool as_markup) {
    const std::string text = left + right;
    RenderBudget::spend(text.size());
    return as_markup ? markup(text) : mk_val<jinja::value_string>(text);
  }
  // Of Python's strings, + heeds markup; jinja2's own ~ does not.
  static value added(const value& left, const value& right) {
    const bool escape = is_markup(left) || is_markup(right);
    const auto text_of = [&](const value& v) {
      return escape && !is_markup(v) ? escaped(python_str(v)) : python_str(v);
    };
    return joined(text_of(left), text_of(right), escape);
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

// x[i], x[a:b:c]: texts by characters, where the engine goes by bytes.
struct Subscript final : Wrapper {
  using Wrapper::Wrapper;
  value execute_impl(context& ctx) const override {
    RenderBudget::spend(0);
    const auto& node = static_cast<const jinja::member_expression&>(*inner);
    value object = node.object->execute(ctx);
    const bool text = is_string(object);
    if (text) object = as_list(object);
    value result = looked_up(ctx, node, object);
    if (!text) return result;
    std::string joined;
    if (is_val<jinja::value_array>(result)) {
      for (const value& character : result->as_array()) joined += python_str(character);
      return mk_val<jinja::value_string>(joined);
    }
    return result;
  }

 private:
  static value as_list(const value& text) {
    auto list = mk_val<jinja::value_array>();
    for (const std::string& character : characters(python_str(text))) {
      list->push_back(mk_val<jinja::value_string>(character));
    }
    return list;
  }
  value looked_up(context& ctx, const jinja::member_expression& node, const value& object) const {
    const auto computed = [&](const statement_ptr& part) {
      return part ? literal(part->execute(ctx)) : nullptr;
    };
    statement_ptr property;
    if (const auto* slice = jinja::cast_stmt<jinja::slice_expression>(node.property)) {
      property = std::make_unique<jinja::slice_expression>(
          computed(slice->start_expr), computed(slice->stop_expr), computed(slice->step_expr));
    } else {
      property = computed(node.property);
    }
    jinja::member_expression once(literal(object), std::move(property), true);
    once.pos = pos;
    return once.execute(ctx);
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

bool tests_divisibility(const jinja::test_expression& node) {
  const auto* call = jinja::cast_stmt<jinja::call_expression>(node.test);
  const auto* name = call == nullptr ? nullptr : jinja::cast_stmt<jinja::identifier>(call->callee);
  return name != nullptr && name->val == "divisibleby";
}

}  // namespace

statement_ptr make_output(statement_ptr inner) {
  return std::make_unique<Output>(std::move(inner));
}

statement_ptr make_variable(statement_ptr identifier) {
  return std::make_unique<Variable>(std::move(identifier));
}

statement_ptr make_counted(statement_ptr inner) {
  return std::make_unique<Counted>(std::move(inner));
}

statement_ptr make_operation(statement_ptr binary) {
  return std::make_unique<Operation>(std::move(binary));
}

statement_ptr make_test(statement_ptr test) {
  const auto& node = static_cast<const jinja::test_expression&>(*test);
  if (tests_divisibility(node)) return std::make_unique<DivisibleBy>(std::move(test));
  return test;
}

statement_ptr make_member(statement_ptr member) {
  if (static_cast<const jinja::member_expression&>(*member).computed) {
    return std::make_unique<Subscript>(std::move(member));
  }
  return std::make_unique<Member>(std::move(member));
}

statement_ptr make_stored(statement_ptr node, const jinja::statement* container) {
  return std::make_unique<Stored>(std::move(node), container);
}

}  // namespace pagoda::text
