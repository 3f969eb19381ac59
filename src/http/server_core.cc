#include "http/server_core.h"

#include <fmt/format.h>
#include <exception>

#include "base/log.h"
#include "http/connection.h"

namespace pagoda::http {

// ---- ConnectionSet

bool ConnectionSet::add(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  connections_.emplace(connection.get(), connection);
  return true;
}

void ConnectionSet::remove(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
}

int ConnectionSet::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(connections_.size());
}

std::vector<std::shared_ptr<Connection>> ConnectionSet::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Connection>> open;
  for (const auto& [_, connection] : connections_) {
    if (auto alive = connection.lock()) open.push_back(std::move(alive));
  }
  return open;
}

void ConnectionSet::close_registration() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

// ---- ServerCore

Response ServerCore::error_response(int status, const std::string& message) const {
  if (hooks.error_response) {
    try {
      return hooks.error_response(status, message);
    } catch (const std::exception& e) {
      log::error("the error_response hook threw: {}", e.what());
    }
  }
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = message + "\n";
  return response;
}

void ServerCore::decorate(const Request& request, Response& response) const {
  if (!hooks.decorate) return;
  try {
    hooks.decorate(request, response.headers);
  } catch (const std::exception& e) {
    log::error("the decorate hook threw: {}", e.what());
  }
}

void ServerCore::record(const ExchangeRecord& entry) const {
  if (!hooks.record) return;
  try {
    hooks.record(entry);
  } catch (const std::exception& e) {
    log::error("the record hook threw: {}", e.what());
  }
}

void ServerCore::route(std::shared_ptr<Exchange> exchange, const Router::Match& match) const {
  if (hooks.before && hooks.before(exchange)) return;
  if (match.handler) return (*match.handler)(std::move(exchange));
  const Request& request = exchange->request();
  if (match.allowed_methods.empty() && request.path != "*")
    return exchange->respond(error_response(404, format("there is no {}", request.path)));
  const std::string allowed = request.path == "*" ? "DELETE, GET, HEAD, OPTIONS, POST"
                                                  : format("{}", fmt::join(match.allowed_methods, ", "));
  Response response;
  if (request.method == "OPTIONS") {
    response.status = 204;
  } else {
    response = error_response(
        405, format("{} does not allow {}; it allows {}", request.path, request.method, allowed));
  }
  response.headers.set("Allow", allowed);
  exchange->respond(std::move(response));
}

}  // namespace pagoda::http
