// POST /tokenize: {prompt} or {messages} → {count, max_model_len, tokens, token_strs}
#include "api/openai/chat_prompt.h"
#include "api/openai/endpoints.h"
#include "api/openai/error_body.h"
#include "api/openai/json_text.h"
#include "api/openai/token_text.h"

namespace pagoda::api {
namespace {

Result<std::vector<int32_t>> tokens_of(const ServiceCore& core, const Json& body, FieldReader& fields) {
  if (fields.find("messages")) {
    PAGODA_ASSIGN(const ChatPrompt prompt, read_chat_prompt(body, fields, core.limits(), core.message_form(),
                                                            core.default_template_kwargs()));
    PAGODA_ASSIGN(const std::string text, render_chat(core, prompt));
    return core.backend().tokenizer->encode(
        text, {.add_special = prompt.add_special_tokens, .parse_special = true});
  }
  const std::optional<std::string> prompt = fields.string("prompt");
  const bool add_special = fields.boolean_or("add_special_tokens", true);
  PAGODA_TRY(fields.status());
  if (!prompt) return fail(ErrorCode::kInvalidArgument, "prompt or messages is required", "prompt");
  return core.backend().tokenizer->encode(*prompt, {.add_special = add_special, .parse_special = true});
}

Result<std::string> tokenize(const ServiceCore& core, const http::Request& request) {
  PAGODA_ASSIGN(const Json body, parse_json_object(request.body));
  FieldReader fields(body);
  const std::string model = fields.string("model").value_or("");
  const bool with_texts = fields.boolean_or("return_token_strs", false);
  PAGODA_TRY(fields.status());
  PAGODA_TRY(core.check_model(model));
  PAGODA_ASSIGN(const std::vector<int32_t> tokens, tokens_of(core, body, fields));
  std::string out = R"({"count":)";
  append_json_number(out, static_cast<int64_t>(tokens.size()));
  out += R"(,"max_model_len":)";
  append_json_number(out, int64_t{core.limits().max_model_len});
  out += R"(,"tokens":)";
  append_json_array(out, tokens);
  out += R"(,"token_strs":)";
  if (!with_texts) return out + "null}";
  out += '[';
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i) out += ',';
    append_json_string(out, chat_token_text(*core.backend().tokenizer, tokens[i]));
  }
  return out + "]}";
}

}  // namespace

void tokenize_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  Result<std::string> body = tokenize(core, exchange->request());
  if (!body) return exchange->respond(error_response(body.error()));
  http::Response response;
  response.body = std::move(*body);
  exchange->respond(std::move(response));
}

}  // namespace pagoda::api
