#include "text/guarded_program.h"

#include <jinja/parser.h>

#include "text/guarded_expressions.h"
#include "text/render_budget.h"

namespace pagoda::text {
namespace {

using jinja::statement;
using jinja::statement_ptr;

// Stands first in a body that may run often.
struct StepGuard final : statement {
  std::string type() const override { return "StepGuard"; }
  jinja::value execute_impl(jinja::context&) const override {
    RenderBudget::spend(0);
    return jinja::mk_val<jinja::value_undefined>();
  }
};

class Guard {
 public:
  void body(jinja::statements& body, bool runs_often) {
    for (statement_ptr& part : body) output(part);
    if (runs_often) body.insert(body.begin(), std::make_unique<StepGuard>());
  }

 private:
  template <class T>
  static T* as(statement_ptr& slot) {
    return dynamic_cast<T*>(slot.get());
  }

  // A part of a body: a statement, or an expression whose value is written out.
  void output(statement_ptr& slot) {
    if (!slot || statement_of_body(slot)) return;
    expression(slot);
    slot = make_output(std::move(slot));
  }

  bool statement_of_body(statement_ptr& slot) {
    if (auto* node = as<jinja::if_statement>(slot)) {
      expression(node->test);
      body(node->body, false);
      body(node->alternate, false);
    } else if (auto* loop = as<jinja::for_statement>(slot)) {
      expression(loop->iterable);
      body(loop->body, true);
      body(loop->default_block, false);
    } else if (auto* set = as<jinja::set_statement>(slot)) {
      if (set->val) expression(set->val);
      body(set->body, false);
      guard_assignment(*set);
    } else if (auto* macro = as<jinja::macro_statement>(slot)) {
      parameters(macro->args);
      body(macro->body, true);
    } else if (auto* filter = as<jinja::filter_statement>(slot)) {
      arguments_of(filter->filter);
      body(filter->body, false);
    } else if (auto* call = as<jinja::call_statement>(slot)) {
      arguments_of(call->call);
      parameters(call->caller_args);
      body(call->body, true);
    } else {
      return dynamic_cast<jinja::expression*>(slot.get()) == nullptr;
    }
    return true;
  }

  // Names, or names with a default value.
  void parameters(jinja::statements& slots) {
    for (statement_ptr& slot : slots) {
      if (auto* with_default = as<jinja::keyword_argument_expression>(slot)) expression(with_default->val);
    }
  }

  // Of a call that must stay one: a filter's, a test's, a call block's.
  void arguments_of(statement_ptr& slot) {
    if (auto* call = as<jinja::call_expression>(slot)) expressions(call->args);
  }
  void expressions(jinja::statements& slots) {
    for (statement_ptr& slot : slots) expression(slot);
  }

  void expression(statement_ptr& slot) {
    if (!slot) return;
    if (auto* binary = as<jinja::binary_expression>(slot)) {
      expression(binary->left);
      expression(binary->right);
      slot = make_operation(std::move(slot));
    } else if (auto* filter = as<jinja::filter_expression>(slot)) {
      expression(filter->operand);
      arguments_of(filter->filter);
      slot = make_filter(std::move(slot));
    } else if (auto* test = as<jinja::test_expression>(slot)) {
      expression(test->operand);
      arguments_of(test->test);
      slot = make_test(std::move(slot));
    } else if (auto* call = as<jinja::call_expression>(slot)) {
      expression(call->callee);
      expressions(call->args);
      slot = make_counted(std::move(slot));
    } else if (auto* member = as<jinja::member_expression>(slot)) {
      expression(member->object);
      if (member->computed) expression(member->property);
      slot = make_member(std::move(slot));
    } else {
      plain_expression(slot);
    }
  }

  // Expressions that only hold others.
  void plain_expression(statement_ptr& slot) {
    if (as<jinja::identifier>(slot) != nullptr) {
      slot = make_variable(std::move(slot));
    } else if (auto* array = as<jinja::array_literal>(slot)) {
      expressions(array->val);
    } else if (auto* tuple = as<jinja::tuple_literal>(slot)) {
      expressions(tuple->val);
    } else if (auto* object = as<jinja::object_literal>(slot)) {
      for (auto& [key, value] : object->val) {
        expression(key);
        expression(value);
      }
    } else if (auto* select = as<jinja::select_expression>(slot)) {
      expression(select->lhs);
      expression(select->test);
    } else if (auto* unary = as<jinja::unary_expression>(slot)) {
      expression(unary->argument);
    } else if (auto* slice = as<jinja::slice_expression>(slot)) {
      expression(slice->start_expr);
      expression(slice->stop_expr);
      expression(slice->step_expr);
    } else if (auto* keyword = as<jinja::keyword_argument_expression>(slot)) {
      expression(keyword->val);
    } else if (auto* spread = as<jinja::spread_expression>(slot)) {
      expression(spread->argument);
    } else if (auto* ternary = as<jinja::ternary_expression>(slot)) {
      expression(ternary->condition);
      expression(ternary->true_expr);
      expression(ternary->false_expr);
    }
  }

  void guard_assignment(jinja::set_statement& set) {
    if (!set.val) return;
    auto* member = as<jinja::member_expression>(set.assignee);
    if (member != nullptr) expression(member->object);
    set.val = make_stored(std::move(set.val), member == nullptr ? nullptr : member->object.get());
  }
};

}  // namespace

jinja::program parse_guarded(const std::string& source) {
  jinja::lexer lexer;
  jinja::program program = jinja::parse_from_tokens(lexer.tokenize(source));
  Guard().body(program.body, false);
  return program;
}

}  // namespace pagoda::text
