// GET /health, /ping, /version, /load, /metrics
#include "api/metrics/engine_metrics.h"
#include "api/openai/endpoints.h"
#include "api/openai/error_body.h"
#include "api/openai/json_text.h"
#include "api/openai/service_core.h"
#include "telemetry/exposition.h"

namespace pagoda::api {

void health_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  if (const Status status = core.availability(); !status)
    return exchange->respond(error_response(status.error()));
  exchange->respond({});
}

void version_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  http::Response response;
  response.body = R"({"version":)";
  append_json_string(response.body, core.options().version);
  response.body += '}';
  exchange->respond(std::move(response));
}

void load_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  http::Response response;
  response.body = R"({"server_load":)";
  append_json_number(response.body, int64_t{core.in_flight()});
  response.body += '}';
  exchange->respond(std::move(response));
}

// Answers in every state: what is not loaded yet stands at zero.
void metrics_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  telemetry::Exposition exposition(telemetry::form_for_accept(exchange->request().headers.get("Accept")));
  const Backend* backend = core.loaded_backend();
  metrics::write_engine_metrics(exposition,
                                backend && backend->engine ? backend->engine->stats() : engine::EngineStats(),
                                backend ? backend->cache_config : metrics::CacheConfig(), core.model_name());
  core.http_metrics().write(exposition);
  http::Response response;
  response.content_type = telemetry::content_type(exposition.form());
  response.body = exposition.finish();
  exchange->respond(std::move(response));
}

}  // namespace pagoda::api
