// POST /v1/chat/completions
#include "api/openai/answer_head.h"
#include "api/openai/chat_prompt.h"
#include "api/openai/endpoints.h"
#include "api/openai/error_body.h"

namespace pagoda::api {
namespace {

// The text that `echo` puts in front: the last message, where the answer continues in its role.
std::string echo_text(const ChatRequest& request, const std::string& role) {
  if (!request.echo) return {};
  const Json& last = request.prompt.messages.back();
  return last.value("role", "") == role ? content_text(last) : std::string();
}

Result<AnswerPlan> plan_chat(const ServiceCore& core, const http::Request& http_request) {
  PAGODA_TRY(core.needs_generation("Chat Completions"));
  PAGODA_ASSIGN(const Json body, parse_json_object(http_request.body));
  PAGODA_ASSIGN(ChatRequest request,
                parse_chat_request(body, core.limits(), core.message_form(), core.default_template_kwargs()));
  GenerationRequest& generation = request.generation;
  PAGODA_TRY(core.check_model(generation.model));
  PlannedPrompt prompt;
  PAGODA_ASSIGN(prompt.tokens, tokenize_chat(core, request.prompt));
  prompt.sampling = std::move(generation.sampling);
  PAGODA_TRY(fit_to_context(generation, core.limits(), std::nullopt, prompt.tokens, prompt.sampling));

  AnswerPlan plan;
  plan.head = make_answer_head(AnswerKind::kChat, http_request, generation.request_id, core.model_name());
  plan.head.role = request.prompt.add_generation_prompt
                       ? core.options().response_role
                       : request.prompt.messages.back().value("role", "assistant");
  prompt.echo_text = echo_text(request, plan.head.role);
  plan.options = std::move(generation.answer);
  plan.prompt_tokens_details = core.options().prompt_tokens_details;
  plan.priority = generation.priority;
  plan.cache_salt = std::move(generation.cache_salt);
  plan.prompts.push_back(std::move(prompt));
  return plan;
}

}  // namespace

void chat_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  Result<AnswerPlan> plan = plan_chat(core, exchange->request());
  if (!plan) return exchange->respond(error_response(plan.error()));
  Answer::start(core.surroundings(), exchange, std::move(*plan));
}

}  // namespace pagoda::api
