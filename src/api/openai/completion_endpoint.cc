// POST /v1/completions
#include "api/openai/answer_head.h"
#include "api/openai/completion_request.h"
#include "api/openai/endpoints.h"
#include "api/openai/error_body.h"
#include "api/openai/service_core.h"

namespace pagoda::api {
namespace {

Result<std::vector<int32_t>> tokens_of(const ServiceCore& core, CompletionPrompt& prompt, bool add_special) {
  if (auto* ids = std::get_if<std::vector<int32_t>>(&prompt)) return std::move(*ids);
  const std::string& text = std::get<std::string>(prompt);
  PAGODA_TRY(check_text_size(text, core.longest_piece(), core.limits()));
  return core.backend().tokenizer->encode(text, {.add_special = add_special, .parse_special = true});
}

Result<PlannedPrompt> plan_prompt(const ServiceCore& core, const CompletionRequest& request,
                                  CompletionPrompt& prompt) {
  PlannedPrompt planned;
  const bool is_text = std::holds_alternative<std::string>(prompt);
  PAGODA_ASSIGN(planned.tokens, tokens_of(core, prompt, request.add_special_tokens));
  planned.sampling = request.generation.sampling;
  const size_t untruncated = planned.tokens.size();
  PAGODA_TRY(fit_to_context(request.generation, core.limits(), kDefaultCompletionTokens, planned.tokens,
                            planned.sampling));
  if (!request.echo) return planned;
  const bool as_sent = is_text && planned.tokens.size() == untruncated;
  planned.echo_text = as_sent ? std::get<std::string>(prompt)
                              : core.backend().tokenizer->decode(planned.tokens, /*skip_special=*/true);
  return planned;
}

Result<AnswerPlan> plan_completion(const ServiceCore& core, const http::Request& http_request) {
  PAGODA_TRY(core.needs_generation("Completions"));
  PAGODA_ASSIGN(const Json body, parse_json_object(http_request.body));
  PAGODA_ASSIGN(CompletionRequest request, parse_completion_request(body, core.limits()));
  GenerationRequest& generation = request.generation;
  PAGODA_TRY(core.check_model(generation.model));
  AnswerPlan plan;
  for (CompletionPrompt& prompt : request.prompts) {
    PAGODA_ASSIGN(PlannedPrompt planned, plan_prompt(core, request, prompt));
    plan.prompts.push_back(std::move(planned));
  }
  plan.head =
      make_answer_head(AnswerKind::kCompletion, http_request, generation.request_id, core.model_name());
  plan.echo_logprobs = request.echo && generation.answer.logprobs.has_value();
  plan.options = std::move(generation.answer);
  plan.prompt_tokens_details = core.options().prompt_tokens_details;
  plan.priority = generation.priority;
  plan.cache_salt = std::move(generation.cache_salt);
  return plan;
}

}  // namespace

void completion_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  Result<AnswerPlan> plan = plan_completion(core, exchange->request());
  if (!plan) return exchange->respond(error_response(plan.error()));
  Answer::start(core.surroundings(), exchange, std::move(*plan));
}

}  // namespace pagoda::api
