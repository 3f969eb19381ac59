// What all connections of a server share. It lives as long as the last connection or exchange that knows it,
// which may be longer than the Server.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "http/router.h"
#include "http/server.h"

namespace pagoda::http {

class Connection;

// The open connections, so that all can be told of a drain or an end.
class ConnectionSet {
 public:
  // False once close_registration() was called: the connection is not to start.
  bool add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection* connection);
  int size() const;
  std::vector<std::shared_ptr<Connection>> all() const;
  void close_registration();

 private:
  mutable std::mutex mutex_;
  bool closed_ = false;
  std::unordered_map<const Connection*, std::weak_ptr<Connection>> connections_;
};

struct ServerCore {
  ServerCore(const ServerOptions& server_options, Router server_router, ServerHooks server_hooks)
      : options(server_options),
        router(std::move(server_router)),
        hooks(std::move(server_hooks)),
        io(server_options.io_threads) {}

  // The hooks, guarded: one that throws is logged and does no harm.
  Response error_response(int status, const std::string& message) const;
  void decorate(const Request& request, Response& response) const;
  void record(const ExchangeRecord& entry) const;
  // Hands the request to the before hook, else to its handler, else answers 404, 405 or OPTIONS. Throws what
  // a handler throws.
  void route(std::shared_ptr<Exchange> exchange, const Router::Match& match) const;

  const ServerOptions options;
  const Router router;
  const ServerHooks hooks;
  boost::asio::io_context io;
  std::optional<boost::asio::ssl::context> tls;
  ConnectionSet connections;
  std::atomic<int> open_exchanges{0};
  std::atomic<bool> draining{false};  // no new connections; answers close theirs
};

}  // namespace pagoda::http
