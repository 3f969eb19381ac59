#include "app/exporter_server.h"

namespace pagoda::app {
namespace {

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
constexpr std::string_view kPage =
    "<!doctype html><html lang=\"en\"><head><title>pagoda exporter</title></head><body><h1>pagoda "
    "exporter</h1>"
    "<p>GPU metrics: <a href=\"metrics\">/metrics</a>, state of the exporter: <a "
    "href=\"health\">/health</a></p></body></html>\n";

http::Response plain(int status, std::string body) {
  http::Response response;
  response.status = status;
  response.content_type = kPlainText;
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.body = std::move(body);
  return response;
}

void answer_metrics(const telemetry::Exporter& exporter, const std::shared_ptr<http::Exchange>& exchange) {
  const auto form = telemetry::form_for_accept(exchange->request().headers.get("Accept"));
  const auto text = exporter.text(form);
  if (text == nullptr) return exchange->respond(plain(503, exporter.health().error().message + '\n'));
  http::Response response = plain(200, *text);
  response.content_type = telemetry::content_type(form);
  exchange->respond(std::move(response));
}

void answer_health(const telemetry::Exporter& exporter, const std::shared_ptr<http::Exchange>& exchange) {
  const Status health = exporter.health();
  exchange->respond(health ? plain(200, "OK\n") : plain(503, health.error().message + '\n'));
}

void answer_page(const std::shared_ptr<http::Exchange>& exchange) {
  http::Response response = plain(200, std::string(kPage));
  response.content_type = "text/html; charset=utf-8";
  exchange->respond(std::move(response));
}

}  // namespace

Result<std::unique_ptr<http::Server>> start_exporter_server(const ExporterOptions& options,
                                                            const telemetry::Exporter& exporter) {
  http::Router router;
  router.add("GET", "/", [](const auto& exchange) { answer_page(exchange); });
  router.add("GET", "/metrics", [&](const auto& exchange) { answer_metrics(exporter, exchange); });
  router.add("GET", "/health", [&](const auto& exchange) { answer_health(exporter, exchange); });
  http::ServerHooks hooks;
  hooks.error_response = [](int status, const std::string& message) { return plain(status, message + '\n'); };

  http::ServerOptions server;
  server.host = options.host;
  server.port = options.port;
  server.max_body_bytes = 4096;  // nothing here takes a body
  server.max_connections = 256;
  server.header_timeout_s = std::chrono::duration<double>(options.read_timeout).count();
  server.body_timeout_s = server.header_timeout_s;
  server.write_timeout_s = std::chrono::duration<double>(options.write_timeout).count();
  return http::Server::start(server, std::move(router), std::move(hooks));
}

}  // namespace pagoda::app
