#include "http/client_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <system_error>

#include "base/clock.h"
#include "base/format.h"

namespace pagoda::http {
namespace {

std::string system_message(int error) {
  return std::generic_category().message(error);
}

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<std::vector<Address>> unix_address(const std::string& path) {
  sockaddr_un unix_address{};
  unix_address.sun_family = AF_UNIX;
  if (path.size() >= sizeof unix_address.sun_path) {
    return fail(ErrorCode::kInvalidArgument,
                format("{}: a socket's path has at most {} bytes", path, sizeof unix_address.sun_path - 1));
  }
  std::memcpy(unix_address.sun_path, path.data(), path.size());
  Address address;
  std::memcpy(&address.storage, &unix_address, sizeof unix_address);
  address.size = sizeof unix_address;
  return std::vector{address};
}

Result<std::vector<Address>> find_addresses(const Url& url) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(url.host.c_str(), format("{}", url.port).c_str(), &hints, &found)) {
    return fail(ErrorCode::kUnavailable,
                format("cannot find the host {}: {}", url.host, ::gai_strerror(error)));
  }
  std::vector<Address> addresses;
  for (const addrinfo* info = found; info; info = info->ai_next) {
    Address address;
    std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
    address.size = info->ai_addrlen;
    addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return addresses;
}

}  // namespace

Result<std::unique_ptr<ClientSocket>> ClientSocket::connect(const Url& url, const ClientOptions& options,
                                                            int cancel_event) {
  const bool is_unix = !options.unix_socket.empty();
  PAGODA_ASSIGN(const auto addresses, is_unix ? unix_address(options.unix_socket) : find_addresses(url));
  const std::string peer = is_unix ? options.unix_socket : format("{}:{}", url.host, url.port);
  const Stopwatch watch;
  Error last{ErrorCode::kUnavailable, format("{} has no address", peer), {}};
  for (const Address& address : addresses) {
    const int fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
      last.message = format("cannot open a socket: {}", system_message(errno));
      continue;
    }
    std::unique_ptr<ClientSocket> socket(new ClientSocket(fd, cancel_event, peer));
    const int on = 1;
    if (!is_unix) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Status status;
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) {
      status = errno == EINPROGRESS || errno == EAGAIN
                   ? socket->finish_connecting(options.connect_timeout_s - watch.seconds())
                   : fail(ErrorCode::kUnavailable,
                          format("cannot connect to {}: {}", peer, system_message(errno)));
    }
    socket->silence_timeout_s_ = options.connect_timeout_s;  // of the handshake
    if (status && url.secure()) status = socket->secure(url, options);
    socket->silence_timeout_s_ = options.silence_timeout_s;
    if (status) return socket;
    last = std::move(status).error();
    if (last.code == ErrorCode::kCancelled) break;
  }
  return Unexpected(std::move(last));
}

ClientSocket::~ClientSocket() {
  ::close(fd_);
}

Status ClientSocket::finish_connecting(double seconds) {
  PAGODA_TRY(wait(POLLOUT, seconds, "connect"));
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return {};
  return fail(ErrorCode::kUnavailable, format("cannot connect to {}: {}", peer_, system_message(error)));
}

Status ClientSocket::secure(const Url& url, const ClientOptions& options) {
  PAGODA_ASSIGN(tls_, ClientTls::create(fd_, url.host, options));
  for (;;) {
    PAGODA_ASSIGN(const ClientTls::Step step, tls_->handshake());
    if (step.wait_for == 0) return {};
    PAGODA_TRY(wait(step.wait_for, silence_timeout_s_, "begin TLS"));
  }
}

Status ClientSocket::wait(short events, double seconds, std::string_view action) const {
  const TimePoint start = Clock::now();
  for (;;) {
    const double left_ms = (seconds - seconds_between(start, Clock::now())) * 1000;
    if (left_ms <= 0) {
      return fail(ErrorCode::kUnavailable,
                  format("{} did not let the client {} within {} s", peer_, action, std::round(seconds)));
    }
    pollfd ready[] = {{fd_, events, 0}, {cancel_event_, POLLIN, 0}};
    const int count = ::poll(ready, 2, static_cast<int>(std::min(left_ms, 1e9)) + 1);
    if (count < 0 && errno != EINTR)
      return fail(ErrorCode::kInternal, format("poll failed: {}", system_message(errno)));
    if (count <= 0) continue;
    if (ready[1].revents) return fail(ErrorCode::kCancelled, "cancelled");
    if (ready[0].revents) return {};
  }
}

Status ClientSocket::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    short wait_for = 0;
    size_t written = 0;
    if (tls_) {
      auto step = tls_->write(bytes);
      peer_closed_ = !step;
      if (!step) return Unexpected(std::move(step).error());
      wait_for = step->wait_for;
      written = step->bytes;
    } else if (const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); sent >= 0) {
      written = static_cast<size_t>(sent);
    } else if (errno == EAGAIN) {
      wait_for = POLLOUT;
    } else if (errno != EINTR) {
      peer_closed_ = true;
      return fail(ErrorCode::kUnavailable,
                  format("{} closed the connection: {}", peer_, system_message(errno)));
    }
    bytes.remove_prefix(written);
    if (wait_for != 0) PAGODA_TRY(wait(wait_for, silence_timeout_s_, "send its request"));
  }
  return {};
}

Result<size_t> ClientSocket::read_some(char* bytes, size_t size) {
  for (;;) {
    short wait_for = POLLIN;
    if (tls_) {
      PAGODA_ASSIGN(const ClientTls::Step step, tls_->read(bytes, size));
      if (step.wait_for == 0) return step.bytes;
      wait_for = step.wait_for;
    } else {
      const ssize_t got = ::recv(fd_, bytes, size, 0);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno == EINTR) continue;
      if (errno != EAGAIN) {
        return fail(ErrorCode::kUnavailable,
                    format("the connection to {} was lost: {}", peer_, system_message(errno)));
      }
    }
    PAGODA_TRY(wait(wait_for, silence_timeout_s_, "read its answer"));
  }
}

}  // namespace pagoda::http
