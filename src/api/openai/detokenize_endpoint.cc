// POST /detokenize: {tokens} → {prompt}
#include "api/openai/endpoints.h"
#include "api/openai/error_body.h"
#include "api/openai/json_text.h"
#include "api/openai/service_core.h"

namespace pagoda::api {
namespace {

Result<std::string> detokenize(const ServiceCore& core, const http::Request& request) {
  PAGODA_ASSIGN(const Json body, parse_json_object(request.body));
  FieldReader fields(body);
  const std::string model = fields.string("model").value_or("");
  const std::vector<int32_t> tokens = fields.token_ids("tokens", core.backend().tokenizer->size());
  PAGODA_TRY(fields.status());
  PAGODA_TRY(core.check_model(model));
  if (!fields.find("tokens")) return fail(ErrorCode::kInvalidArgument, "tokens is required", "tokens");
  std::string out = R"({"prompt":)";
  append_json_string(out, core.backend().tokenizer->decode(tokens, /*skip_special=*/false));
  return out + '}';
}

}  // namespace

void detokenize_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  Result<std::string> body = detokenize(core, exchange->request());
  if (!body) return exchange->respond(error_response(body.error()));
  http::Response response;
  response.body = std::move(*body);
  exchange->respond(std::move(response));
}

}  // namespace pagoda::api
