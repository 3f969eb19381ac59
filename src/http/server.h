// The HTTP/1.1 server: Boost.Beast on a few I/O threads. Bodies are bounded, slow clients time out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/router.h"

namespace pagoda::http {

struct TlsFiles {
  std::string key_file, certificate_file;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;          // 0: any free one, see port()
  std::string unix_socket;  // a path instead of host and port
  TlsFiles tls;             // empty: plain HTTP
  int io_threads = 1;
  int64_t max_body_bytes = int64_t{32} << 20;  // above: 413
  int max_connections = 4096;                  // above: 503 and close
  double header_timeout_s = 30;                // from the first byte to the end of headers
  double body_timeout_s = 120;
  double idle_timeout_s = 120;                    // keep-alive
  int64_t max_backlog_bytes = int64_t{16} << 20;  // unsent bytes of one stream before it counts as gone
};

// What an exchange was, once it ended: for the access log and metrics.
struct ExchangeRecord {
  std::string method, path, pattern, peer, request_id;
  int status = 0;  // 499: the client went away first
  int64_t request_bytes = 0, response_bytes = 0;
  double seconds = 0;
};

struct ServerHooks {
  // Runs before routing, on an I/O thread: answer here (API key, CORS preflight) and return true to end it.
  std::function<bool(const std::shared_ptr<Exchange>&)> before;
  // Adds headers to every response (CORS, request id).
  std::function<void(const Request&, Headers&)> decorate;
  // Builds the body of errors that arise here: 400, 404, 405, 408, 413, 500, 503.
  std::function<Response(int status, const std::string& message)> error_response;
  std::function<void(const ExchangeRecord&)> record;
};

class Server {
 public:
  // Binds and starts to accept. A port in use is kUnavailable, naming the port and, where it can be told, who
  // has it.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Router router,
                                               ServerHooks hooks);
  virtual ~Server() = default;  // closes everything

  virtual int port() const = 0;
  virtual void stop_accepting() = 0;
  virtual int open_exchanges() const = 0;
};

}  // namespace pagoda::http
