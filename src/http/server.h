// The HTTP/1.1 server: Boost.Beast's parser and Asio on a few I/O threads. Bodies are bounded, slow clients
// time out.
//
// Handlers and hooks run on an I/O thread and hold up the connections that it serves: what takes longer than
// a millisecond or so belongs on a thread of its own. A handler that throws is a 500; the server goes on.
// SIGPIPE is never raised: sockets are written with MSG_NOSIGNAL.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/router.h"

namespace pagoda::http {

struct TlsFiles {
  std::string key_file, certificate_file;  // PEM; both or neither
  std::string client_ca_file = {};         // PEM of who may sign clients' certificates
  enum class ClientCertificate { kNone, kOptional, kRequired };
  ClientCertificate client_certificate = ClientCertificate::kNone;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;          // 0: any free one, see port()
  std::string unix_socket;  // a path instead of host and port
  TlsFiles tls;             // empty: plain HTTP
  // "/llm": what a proxy leaves in front of paths, taken off before anything looks at them. Paths without it
  // are served as well: another proxy may take it off itself.
  std::string root_path;
  int io_threads = 1;
  int64_t max_body_bytes = int64_t{32} << 20;  // above: 413
  int max_connections = 4096;                  // above: 503 and close
  // From a request's first byte to the end of its headers, and a TLS handshake: 408.
  double header_timeout_s = 30;
  double body_timeout_s = 120;   // from there to the end of the body: 408
  double idle_timeout_s = 120;   // keep-alive, or a new connection that says nothing: closed in silence
  double write_timeout_s = 120;  // the client takes no byte of its answer for so long: gone
  int64_t max_backlog_bytes = int64_t{16} << 20;  // unsent bytes of one stream before it counts as gone
};

// What an exchange was, once it ended: for the access log and metrics.
struct ExchangeRecord {
  std::string method, path, pattern, peer, request_id;
  int status = 0;  // 499: the client went away first. method is empty where the request could not be read
  int64_t request_bytes = 0, response_bytes = 0;
  double seconds = 0;
};

struct ServerHooks {
  // Runs before routing, on an I/O thread: answer here (API key, CORS preflight) and return true to end it.
  std::function<bool(const std::shared_ptr<Exchange>&)> before;
  // Adds headers to every response (CORS, request id). After malformed HTTP the Request may be partly empty.
  std::function<void(const Request&, Headers&)> decorate;
  // Builds the answer to errors that arise here: 400, 404, 405, 408, 413, 417, 431, 500, 501, 503.
  std::function<Response(int status, const std::string& message)> error_response;
  std::function<void(const ExchangeRecord&)> record;
};

class Server {
 public:
  // Binds and starts to accept. A port in use is kUnavailable, naming the port and, where it can be told, who
  // has it.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Router router,
                                               ServerHooks hooks);
  // Closes everything, whatever is under way (its on_disconnect is called), and waits for the I/O threads:
  // not to be called on one of them. Exchanges that handlers still hold may outlive the server; what they say
  // is dropped.
  virtual ~Server() = default;

  virtual int port() const = 0;  // 0 for a Unix socket
  // New connections are refused, idle ones closed; the others end with the answer that is under way.
  virtual void stop_accepting() = 0;
  // Requests that a handler has, or whose answer is still being written.
  virtual int open_exchanges() const = 0;
};

}  // namespace pagoda::http
