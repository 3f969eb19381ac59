#include "http/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "http/port_holder.h"

namespace pagoda::http {
namespace {

constexpr int kPendingConnections = 4096;  // the kernel lowers it to net.core.somaxconn

std::string system_message(int error) {
  return std::generic_category().message(error);
}

std::string with_port(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? format("{}:{}", host, port) : format("[{}]:{}", host, port);
}

Unexpected bind_failure(const std::string& host, int port, int error) {
  const std::string address = with_port(host.empty() ? "*" : host, port);
  switch (error) {
    case EADDRINUSE: {
      const auto holder = find_port_holder(port);
      const std::string who = holder ? format("by {} (PID {})", holder->command, holder->pid)
                                     : std::string("by a process that this user may not see");
      return fail(ErrorCode::kUnavailable,
                  format("{} is in use {}; end it, or choose another port with --port", address, who),
                  "--port");
    }
    case EACCES:
      return fail(ErrorCode::kInvalidArgument,
                  format("{}: ports below 1024 need root; choose another with --port", address), "--port");
    case EADDRNOTAVAIL:
      return fail(
          ErrorCode::kInvalidArgument,
          format("{} is not an address of this machine; --host 127.0.0.1 listens for this machine alone, "
                 "--host 0.0.0.0 on all its addresses",
                 host),
          "--host");
    default:
      return fail(ErrorCode::kUnavailable, format("cannot listen on {}: {}", address, system_message(error)));
  }
}

// Removes what a server that was killed left behind; anything else at the path stays and is an error.
Status clear_stale_socket(const std::string& path, const sockaddr_un& address) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode))
    return fail(ErrorCode::kInvalidArgument, format("{}: exists and is not a socket", path), "--uds");
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool answers =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  ::close(probe);
  if (answers) {
    return fail(ErrorCode::kUnavailable,
                format("{}: a server listens there already; end it, or choose another path with --uds", path),
                "--uds");
  }
  ::unlink(path.c_str());
  return {};
}

}  // namespace

Result<Listener> Listener::open(const ServerOptions& options) {
  if (!options.unix_socket.empty()) return open_unix(options.unix_socket);
  return open_tcp(options.host, options.port);
}

Result<Listener> Listener::open_tcp(const std::string& host, int port) {
  if (port < 0 || port > 65535)
    return fail(ErrorCode::kInvalidArgument, format("port {} is not between 0 and 65535", port), "--port");
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error =
          ::getaddrinfo(host.empty() ? nullptr : host.c_str(), format("{}", port).c_str(), &hints, &found)) {
    return fail(ErrorCode::kInvalidArgument,
                format("cannot find the host {} to listen on: {}", host, ::gai_strerror(error)), "--host");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> address(found, ::freeaddrinfo);

  Listener listener(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), address->ai_family);
  if (listener.fd_ < 0) return bind_failure(host, port, errno);
  const int on = 1, off = 0;
  ::setsockopt(listener.fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (listener.family_ == AF_INET6)  // "::" takes IPv4 as well
    ::setsockopt(listener.fd_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(listener.fd_, address->ai_addr, address->ai_addrlen) != 0 ||
      ::listen(listener.fd_, kPendingConnections) != 0)
    return bind_failure(host, port, errno);

  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(listener.fd_, reinterpret_cast<sockaddr*>(&bound), &size);
  listener.port_ =
      ntohs(listener.family_ == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                         : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  return listener;
}

Result<Listener> Listener::open_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::kInvalidArgument,
                format("{}: a socket's path has at most {} bytes", path, sizeof address.sun_path - 1),
                "--uds");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  PAGODA_TRY(clear_stale_socket(path, address));
  Listener listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), AF_UNIX);
  if (::bind(listener.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.fd_, kPendingConnections) != 0) {
    return fail(ErrorCode::kInvalidArgument,
                format("{}: cannot listen there: {}", path, system_message(errno)), "--uds");
  }
  listener.path_ = path;
  return listener;
}

Listener::Listener(Listener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      family_(other.family_),
      port_(other.port_),
      path_(std::exchange(other.path_, {})) {}

Listener::~Listener() {
  if (fd_ >= 0) ::close(fd_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

int Listener::release() {
  return std::exchange(fd_, -1);
}

std::string format_peer(const void* address, size_t size) {
  sockaddr_storage storage{};
  std::memcpy(&storage, address, std::min(size, sizeof storage));
  char text[INET6_ADDRSTRLEN] = "?";
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    return with_port(text, ntohs(v4->sin_port));
  }
  if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    const std::string_view shown(text);  // an IPv4 client of a socket that takes both is shown as IPv4
    return with_port(std::string(shown.starts_with("::ffff:") ? shown.substr(7) : shown),
                     ntohs(v6->sin6_port));
  }
  return "unix";
}

}  // namespace pagoda::http
