// TLS over the client's socket, without blocking and without SIGPIPE.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string_view>

#include "base/result.h"
#include "http/client.h"

namespace pagoda::http {

class ClientTls {
 public:
  // kInvalidArgument: a CA file that cannot be read.
  static Result<std::unique_ptr<ClientTls>> create(int fd, const std::string& host,
                                                   const ClientOptions& options);
  ~ClientTls();
  ClientTls(const ClientTls&) = delete;
  ClientTls& operator=(const ClientTls&) = delete;

  // What the socket must be ready for before the call is made again; 0: done.
  struct Step {
    short wait_for = 0;  // POLLIN or POLLOUT
    size_t bytes = 0;    // transferred; 0 with wait_for 0: the other side has closed
  };
  Result<Step> handshake();
  Result<Step> read(char* bytes, size_t size);
  Result<Step> write(std::string_view bytes);

 private:
  ClientTls(SSL_CTX* context, std::string host) : context_(context), host_(std::move(host)) {}
  Result<Step> step(int returned) const;

  SSL_CTX* const context_;
  SSL* ssl_ = nullptr;
  const std::string host_;
};

}  // namespace pagoda::http
