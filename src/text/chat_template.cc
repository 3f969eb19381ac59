#include "text/chat_template.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/format.h"
#include "text/final_message.h"
#include "text/guarded_program.h"
#include "text/python_text.h"
#include "text/render_budget.h"
#include "text/template_functions.h"
#include "text/template_messages.h"
#include "text/template_values.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

using nlohmann::ordered_json;

Unexpected refuse(std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, as_valid_utf8(format("chat template: {}", why)), "messages");
}

// The engine tells a fault in many lines: where ("… at line 3, column 5 in source:"), the source, "Error:
// what".
std::string told_briefly(const std::string& fault) {
  constexpr std::string_view kWhat = "Error: ", kWhere = " at line ";
  const size_t what = fault.rfind(kWhat);
  const std::string message = what == std::string::npos ? fault : fault.substr(what + kWhat.size());
  const size_t where = fault.find(kWhere);
  if (where == std::string::npos || what == std::string::npos) return message;
  const size_t begin = where + kWhere.size();
  return format("line {}: {}", fault.substr(begin, fault.find_first_not_of("0123456789", begin) - begin),
                message);
}

size_t weight_of(const ordered_json* json) {
  return json == nullptr ? 0 : json->dump(-1, ' ', false, ordered_json::error_handler_t::replace).size();
}

class JinjaChatTemplate final : public ChatTemplate {
 public:
  JinjaChatTemplate(std::string source, jinja::program program, std::string bos_token, std::string eos_token)
      : source_(std::move(source)),
        program_(std::move(program)),
        bos_token_(std::move(bos_token)),
        eos_token_(std::move(eos_token)) {}

  Result<std::string> render(const ChatTemplateInput& input) const override {
    if (input.messages == nullptr || !input.messages->is_array()) return refuse("messages must be a list");
    PAGODA_ASSIGN(ordered_json messages, messages_for_template(*input.messages));
    std::string final_text;
    if (input.continue_final_message) {
      PAGODA_ASSIGN(final_text, mark_final_message(messages));
    }
    const size_t weight = weight_of(&messages) + weight_of(input.tools) + weight_of(input.documents);
    PAGODA_ASSIGN(std::string rendered, run(input, messages, weight));
    if (input.continue_final_message) return cut_at_mark(std::move(rendered), final_text);
    return rendered;
  }

 private:
  Result<std::string> run(const ChatTemplateInput& input, const ordered_json& messages, size_t weight) const {
    try {
      const RenderBudget budget(RenderLimits{}, weight);
      jinja::context context(source_);
      context.current_time = input.now.value_or(std::time(nullptr));
      PAGODA_TRY(set_variables(context, input, messages));
      std::string text;
      for (const jinja::statement_ptr& part : program_.body) {
        jinja::value written = part->execute(context);
        text += jinja::render_string_parts(jinja::runtime::gather_string_parts(written));
      }
      return as_valid_utf8(std::move(text));
    } catch (const RaisedByTemplate& raised) {
      return fail(ErrorCode::kInvalidArgument, as_valid_utf8(raised.message), "messages");
    } catch (const BudgetExceeded& exceeded) {
      return fail(ErrorCode::kInvalidArgument, exceeded.message, "chat_template");
    } catch (const std::exception& fault) {
      return refuse(told_briefly(fault.what()));
    }
  }

  Status set_variables(jinja::context& context, const ChatTemplateInput& input,
                       const ordered_json& messages) const {
    const auto list_or_none = [&](const char* name, const ordered_json* json) -> Status {
      if (json == nullptr) {
        context.set_val(name, jinja::mk_val<jinja::value_none>());
        return {};
      }
      PAGODA_ASSIGN(jinja::value value, template_value(*json));
      context.set_val(name, value);
      return {};
    };
    define_functions(context);
    context.set_val("bos_token", jinja::mk_val<jinja::value_string>(bos_token_));
    context.set_val("eos_token", jinja::mk_val<jinja::value_string>(eos_token_));
    if (input.extra != nullptr && input.extra->is_object()) {
      for (const auto& [name, json] : input.extra->items()) PAGODA_TRY(list_or_none(name.c_str(), &json));
    }
    PAGODA_TRY(list_or_none("messages", &messages));
    PAGODA_TRY(list_or_none("tools", input.tools));
    PAGODA_TRY(list_or_none("documents", input.documents));
    context.set_val("add_generation_prompt", jinja::mk_val<jinja::value_bool>(input.add_generation_prompt));
    return {};
  }

  std::string source_;
  jinja::program program_;
  std::string bos_token_, eos_token_;
};

}  // namespace

Result<std::unique_ptr<ChatTemplate>> parse_chat_template(std::string source, std::string bos_token,
                                                          std::string eos_token) {
  PAGODA_TRY(check_template_source(source));
  try {
    jinja::program program = parse_guarded(source);
    return std::make_unique<JinjaChatTemplate>(std::move(source), std::move(program), std::move(bos_token),
                                               std::move(eos_token));
  } catch (const std::exception& fault) {
    return fail(ErrorCode::kInvalidArgument,
                as_valid_utf8(format("chat template does not parse: {}", fault.what())), "chat_template");
  }
}

}  // namespace pagoda::text
