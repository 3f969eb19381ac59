#include "api/openai/chat_request.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/format.h"

namespace pagoda::api {
namespace {

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr std::array<std::string_view, 7> kReasoningEfforts{"none", "minimal", "low", "medium",
                                                            "high", "xhigh",   "max"};

Status check_tool(const Json& tool, size_t i) {
  const std::string where = format("tools[{}]", i);
  const Json* function = nullptr;
  if (tool.is_object()) {
    if (const auto it = tool.find("function"); it != tool.end() && it->is_object()) function = &*it;
  }
  const auto name = function ? function->find("name") : tool.end();
  if (!function || name == function->end() || !name->is_string()) {
    return fail(ErrorCode::kInvalidArgument,
                where + R"( must be {"type": "function", "function": {"name": …, "parameters": …}})", where);
  }
  return {};
}

// Without --enable-auto-tool-choice the model's text is never read as calls; with "none" the template still
// shows the tools, as vLLM does.
void read_tool_choice(FieldReader& fields) {
  const Json* choice = fields.find("tool_choice");
  const Json* tools = fields.find("tools");
  if (!tools || tools->empty()) {
    if (choice && *choice != "none") {
      fields.fault("tool_choice", "tool_choice can only be given when tools are");
    }
    return;
  }
  if (choice && *choice == "none") return;
  if (!choice || *choice == "auto") {
    fields.fault(
        "tool_choice",
        "tool_choice \"auto\" (the default when tools are given) requires --enable-auto-tool-choice and "
        "--tool-call-parser to be set, which this build does not support yet; \"none\" shows the tools to "
        "the model without calling them",
        ErrorCode::kUnsupported);
  } else if (*choice == "required" || choice->is_object()) {
    fields.fault("tool_choice",
                 "forced tool calls (tool_choice \"required\" or a named function) are not supported "
                 "in this build yet",
                 ErrorCode::kUnsupported);
  } else {
    fields.fault("tool_choice", R"(tool_choice must be "none", "auto", "required" or a named function)");
  }
}

void read_tools(FieldReader& fields, ChatPrompt& out) {
  const Json* tools = fields.find("tools");
  if (tools && !tools->is_array()) {
    fields.fault("tools", format("tools must be an array, not {}", json_type_name(*tools)));
    return;
  }
  if (!tools || tools->empty()) return;
  for (size_t i = 0; i < tools->size(); ++i) fields.keep(check_tool((*tools)[i], i));
  out.tools = *tools;
}

void read_template(FieldReader& fields, const RequestLimits& limits, ChatPrompt& out) {
  std::optional<std::string> own = fields.string("chat_template");
  if (const Json* kwargs = fields.find("chat_template_kwargs")) {
    if (!kwargs->is_object()) {
      fields.fault("chat_template_kwargs",
                   format("chat_template_kwargs must be an object, not {}", json_type_name(*kwargs)));
      return;
    }
    for (const auto& [name, value] : kwargs->items()) {
      if (name == "chat_template" && value.is_string())
        own = value.get<std::string>();
      else
        out.template_kwargs[name] = value;
    }
  }
  if (!own) return;
  if (!limits.trust_request_chat_template) {
    fields.fault(
        "chat_template",
        "the request brings a chat_template, but the server runs without --trust-request-chat-template");
  }
  out.own_template = *own;
}

void read_reasoning_effort(FieldReader& fields, ChatPrompt& out) {
  const std::optional<std::string> effort = fields.string("reasoning_effort");
  fields.boolean_or("include_reasoning", true);
  if (!effort) return;
  if (std::find(kReasoningEfforts.begin(), kReasoningEfforts.end(), *effort) == kReasoningEfforts.end()) {
    fields.fault(
        "reasoning_effort",
        format("reasoning_effort must be one of none, minimal, low, medium, high, xhigh, max; got \"{}\"",
               effort->substr(0, 40)));
  }
  out.template_kwargs["reasoning_effort"] = *effort;
  if (!out.template_kwargs.contains("enable_thinking"))
    out.template_kwargs["enable_thinking"] = *effort != "none";
}

void read_generation_prompt(FieldReader& fields, ChatPrompt& out) {
  out.continue_final_message = fields.boolean_or("continue_final_message", false);
  out.add_generation_prompt = fields.boolean_or("add_generation_prompt", !out.continue_final_message);
  if (out.continue_final_message && out.add_generation_prompt) {
    fields.fault("continue_final_message",
                 "continue_final_message and add_generation_prompt cannot both be true");
  }
  out.add_special_tokens = fields.boolean_or("add_special_tokens", false);
}

void read_documents(FieldReader& fields, ChatPrompt& out) {
  const Json* documents = fields.find("documents");
  if (!documents) return;
  if (!documents->is_array()) {
    fields.fault("documents", format("documents must be an array, not {}", json_type_name(*documents)));
    return;
  }
  out.documents = *documents;
}

// max_completion_tokens is the newer name and wins.
void read_max_tokens(FieldReader& fields, GenerationRequest& out) {
  const auto older = fields.integer("max_tokens", {1, kMaxInt32});
  const auto newer = fields.integer("max_completion_tokens", {1, kMaxInt32});
  if (newer)
    out.max_tokens = static_cast<int>(*newer);
  else if (older)
    out.max_tokens = static_cast<int>(*older);
}

void read_logprobs(FieldReader& fields, const RequestLimits& limits, GenerationRequest& out) {
  const bool wanted = fields.boolean_or("logprobs", false);
  const std::optional<int> top = read_logprob_count(fields, "top_logprobs", limits);
  if (top.value_or(0) > 0 && !wanted) {
    fields.fault("top_logprobs", "top_logprobs can only be given when logprobs is true");
  }
  if (wanted) out.answer.logprobs = out.sampling.logprobs = top.value_or(0);
  read_prompt_logprobs(fields, limits, out);
}

}  // namespace

Result<ChatPrompt> read_chat_prompt(const Json& body, FieldReader& fields, const RequestLimits& limits,
                                    const MessageForm& form, const Json& default_kwargs) {
  ChatPrompt prompt;
  prompt.template_kwargs = default_kwargs.is_object() ? default_kwargs : Json::object();
  read_tools(fields, prompt);
  read_template(fields, limits, prompt);
  read_reasoning_effort(fields, prompt);
  read_generation_prompt(fields, prompt);
  read_documents(fields, prompt);
  PAGODA_TRY(fields.status());
  const auto messages = body.find("messages");
  if (messages == body.end()) return fail(ErrorCode::kInvalidArgument, "messages is required", "messages");
  PAGODA_ASSIGN(prompt.messages, normalise_messages(*messages, form));
  return prompt;
}

Result<ChatRequest> parse_chat_request(const Json& body, const RequestLimits& limits, const MessageForm& form,
                                       const Json& default_kwargs) {
  FieldReader fields(body);
  ChatRequest request;
  request.generation = read_generation_fields(fields, limits);
  read_max_tokens(fields, request.generation);
  read_logprobs(fields, limits, request.generation);
  request.echo = fields.boolean_or("echo", false);
  fields.boolean_or("parallel_tool_calls", true);
  read_tool_choice(fields);
  PAGODA_ASSIGN(request.prompt, read_chat_prompt(body, fields, limits, form, default_kwargs));
  return request;
}

}  // namespace pagoda::api
