#include "api/openai/service.h"

#include <array>

#include "api/openai/endpoints.h"
#include "api/openai/service_core.h"
#include "base/format.h"

namespace pagoda::api {
namespace {

enum class RunsOn { kIoThread, kIntake };

struct RouteRow {
  std::string_view method, path;
  ServiceCore::Work work;
  RunsOn runs_on;
};
constexpr std::array kRoutes{
    RouteRow{"POST", "/v1/chat/completions", chat_endpoint, RunsOn::kIntake},
    RouteRow{"POST", "/v1/completions", completion_endpoint, RunsOn::kIntake},
    RouteRow{"POST", "/v1/embeddings", embedding_endpoint, RunsOn::kIntake},
    RouteRow{"POST", "/v1/score", score_endpoint, RunsOn::kIntake},
    RouteRow{"POST", "/score", score_endpoint, RunsOn::kIntake},
    RouteRow{"POST", "/v1/rerank", rerank_endpoint, RunsOn::kIntake},
    RouteRow{"POST", "/v2/rerank", rerank_endpoint, RunsOn::kIntake},
    RouteRow{"POST", "/rerank", rerank_endpoint, RunsOn::kIntake},
    RouteRow{"POST", "/tokenize", tokenize_endpoint, RunsOn::kIntake},
    RouteRow{"POST", "/detokenize", detokenize_endpoint, RunsOn::kIntake},
    RouteRow{"GET", "/v1/models", models_endpoint, RunsOn::kIoThread},
    RouteRow{"GET", "/v1/models/{id}", model_endpoint, RunsOn::kIoThread},
    RouteRow{"GET", "/health", health_endpoint, RunsOn::kIoThread},
    RouteRow{"GET", "/ping", health_endpoint, RunsOn::kIoThread},
    RouteRow{"POST", "/ping", health_endpoint, RunsOn::kIoThread},
    RouteRow{"GET", "/version", version_endpoint, RunsOn::kIoThread},
    RouteRow{"GET", "/load", load_endpoint, RunsOn::kIoThread},
    RouteRow{"GET", "/metrics", metrics_endpoint, RunsOn::kIoThread},
};

Result<Json> parse_default_kwargs(const std::string& text) {
  if (text.empty()) return Json::object();
  Result<Json> kwargs = parse_json_object(text);
  if (!kwargs) {
    return fail(ErrorCode::kInvalidArgument,
                format("--default-chat-template-kwargs must be a JSON object: {}", kwargs.error().message),
                "default-chat-template-kwargs");
  }
  return kwargs;
}

}  // namespace

Result<std::unique_ptr<Service>> Service::create(ServiceOptions options) {
  if (options.names.served.empty() || options.names.served.front().empty()) {
    return fail(ErrorCode::kInvalidArgument, "--served-model-name must not be empty", "served-model-name");
  }
  PAGODA_ASSIGN(Json kwargs, parse_default_kwargs(options.default_chat_template_kwargs));
  return std::unique_ptr<Service>(
      new Service(std::make_shared<ServiceCore>(std::move(options), std::move(kwargs))));
}

Service::Service(std::shared_ptr<ServiceCore> core) : core_(std::move(core)) {
  for (const RouteRow& route : kRoutes) core_->http_metrics().expect(route.method, route.path);
}

Service::~Service() {
  core_->stop();
}

void Service::add_routes(http::Router& router) {
  for (const RouteRow& route : kRoutes) {
    const auto handle = [core = core_, route](const std::shared_ptr<http::Exchange>& exchange) {
      if (route.runs_on == RunsOn::kIntake)
        core->take_in(route.work, exchange);
      else
        route.work(*core, exchange);
    };
    router.add(std::string(route.method), std::string(route.path), handle);
  }
}

http::ServerHooks Service::hooks() {
  return make_hooks(core_->options().middleware, [core = core_](const http::ExchangeRecord& record) {
    core->http_metrics().record(record);
  });
}

void Service::ready(Backend backend) {
  core_->ready(std::move(backend));
}
void Service::begin_drain() {
  core_->begin_drain();
}
int Service::in_flight() const {
  return core_->in_flight();
}

}  // namespace pagoda::api
