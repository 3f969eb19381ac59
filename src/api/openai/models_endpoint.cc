// GET /v1/models and /v1/models/{id}
#include "api/openai/endpoints.h"
#include "api/openai/error_body.h"
#include "api/openai/json_body.h"
#include "api/openai/service_core.h"

namespace pagoda::api {
namespace {

Json permission(const std::string& name, int64_t created) {
  return Json{{"id", "modelperm-" + name},
              {"object", "model_permission"},
              {"created", created},
              {"allow_create_engine", false},
              {"allow_sampling", true},
              {"allow_logprobs", true},
              {"allow_search_indices", false},
              {"allow_view", true},
              {"allow_fine_tuning", false},
              {"organization", "*"},
              {"group", nullptr},
              {"is_blocking", false}};
}

Json model_card(const ServiceCore& core, const std::string& name) {
  const std::string& path = core.options().names.path;
  return Json{{"id", name},
              {"object", "model"},
              {"created", core.created()},
              {"owned_by", "pagoda"},
              {"root", path.empty() ? name : path},
              {"parent", nullptr},
              {"max_model_len", core.limits().max_model_len},
              {"permission", Json::array({permission(name, core.created())})}};
}

void respond_json(http::Exchange& exchange, const Json& json) {
  http::Response response;
  response.body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  exchange.respond(std::move(response));
}

}  // namespace

void models_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  if (const Status status = core.availability(); !status)
    return exchange->respond(error_response(status.error()));
  Json cards = Json::array();
  for (const std::string& name : core.options().names.served) cards.push_back(model_card(core, name));
  respond_json(*exchange, Json{{"object", "list"}, {"data", std::move(cards)}});
}

void model_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  if (const Status status = core.availability(); !status)
    return exchange->respond(error_response(status.error()));
  std::string id;
  for (const auto& [name, value] : exchange->request().parameters) {
    if (name == "id") id = value;
  }
  if (const Status status = core.check_model(id); !status)
    return exchange->respond(error_response(status.error()));
  const auto& served = core.options().names.served;
  const bool is_alias = std::find(served.begin(), served.end(), id) != served.end();
  respond_json(*exchange, model_card(core, is_alias ? id : core.model_name()));
}

}  // namespace pagoda::api
