// A listening socket, TCP or Unix.
#pragma once

#include <string>

#include "base/result.h"
#include "http/server.h"

namespace pagoda::http {

class Listener {
 public:
  // Binds and listens. kInvalidArgument: a host, port or path that cannot be; kUnavailable: taken, with the
  // process that has it where /proc tells.
  static Result<Listener> open(const ServerOptions& options);

  ~Listener();
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;

  int port() const { return port_; }      // 0 for a Unix socket
  int family() const { return family_; }  // AF_INET, AF_INET6 or AF_UNIX
  // The caller's from now on; the path of a Unix socket is still removed by this object.
  int release();

 private:
  Listener(int fd, int family) : fd_(fd), family_(family) {}
  static Result<Listener> open_tcp(const std::string& host, int port);
  static Result<Listener> open_unix(const std::string& path);

  int fd_, family_, port_ = 0;
  std::string path_;
};

// "127.0.0.1:53412", "[::1]:53412" or "unix", of a sockaddr.
std::string format_peer(const void* address, size_t size);

}  // namespace pagoda::http
