#include "http/server.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "base/log.h"
#include "http/connection.h"
#include "http/listener.h"
#include "http/server_core.h"
#include "http/tls_context.h"

namespace pagoda::http {
namespace {

namespace asio = boost::asio;

// Connections above the limit that may be told so at once; above these, new ones are just closed.
constexpr int kMaxRefusals = 64;
// Accepting fails when file descriptors run out: then it rests, and open connections get the time to end.
constexpr std::chrono::milliseconds kAcceptPause{100};

class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(std::shared_ptr<ServerCore> core, Listener listener)
      : core_(std::move(core)),
        listener_(std::move(listener)),
        strand_(asio::make_strand(core_->io)),
        acceptor_(strand_),
        pause_(strand_) {
    acceptor_.assign(asio::generic::stream_protocol(listener_.family(), 0), listener_.release());
  }

  void accept_next() {
    acceptor_.async_accept(asio::make_strand(core_->io),
                           [self = shared_from_this()](boost::system::error_code error, Socket socket) {
                             self->on_accepted(error, std::move(socket));
                           });
  }

  // Any thread. From its return on, connecting is refused.
  void close() {
    if (closing_.exchange(true)) return;
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    asio::post(strand_, [self = shared_from_this()] {
      boost::system::error_code ignored;
      self->acceptor_.close(ignored);
      self->pause_.cancel();
    });
  }

 private:
  void on_accepted(boost::system::error_code error, Socket socket) {
    if (closing_) return;
    if (!error) {
      admit(std::move(socket));
      return accept_next();
    }
    if (error == asio::error::connection_aborted) return accept_next();
    log::warning("cannot accept a connection: {}; trying again (open now: {})", error.message(),
                 core_->connections.size());
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([self = shared_from_this()](boost::system::error_code) {
      if (!self->closing_) self->accept_next();
    });
  }

  void admit(Socket socket) {
    boost::system::error_code error;
    const auto remote = socket.remote_endpoint(error);
    if (error) return;  // gone already
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    if (listener_.family() != AF_UNIX) {
      const int on = 1;  // a token is worth a packet
      ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    const int open = core_->connections.size(), limit = core_->options.max_connections;
    if (open >= limit + kMaxRefusals) return;
    auto connection =
        std::make_shared<Connection>(core_, std::move(socket), format_peer(remote.data(), remote.size()));
    if (!core_->connections.add(connection)) return;
    if (open < limit) {
      connection->start();
    } else {
      connection->start_refused();
    }
  }

  const std::shared_ptr<ServerCore> core_;
  Listener listener_;
  const Strand strand_;
  asio::basic_socket_acceptor<asio::generic::stream_protocol, Strand> acceptor_;
  asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Strand> pause_;
  std::atomic<bool> closing_{false};
};

class BeastServer : public Server {
 public:
  BeastServer(std::shared_ptr<ServerCore> core, Listener listener)
      : core_(std::move(core)),
        port_(listener.port()),
        acceptor_(std::make_shared<Acceptor>(core_, std::move(listener))),
        work_(core_->io.get_executor()) {
    acceptor_->accept_next();
    for (int i = 0; i < core_->options.io_threads; ++i) threads_.emplace_back([this] { serve(); });
  }

  // Everything is closed first, so the threads run out of work and end by themselves: no callback is left
  // behind that would hold the core for ever.
  ~BeastServer() override {
    acceptor_->close();
    core_->connections.close_registration();
    for (const auto& connection : core_->connections.all()) connection->close_soon();
    acceptor_.reset();
    work_.reset();
    for (std::thread& thread : threads_) thread.join();
  }

  int port() const override { return port_; }

  void stop_accepting() override {
    acceptor_->close();
    core_->draining = true;
    for (const auto& connection : core_->connections.all()) connection->drain();
  }

  int open_exchanges() const override { return core_->open_exchanges; }

 private:
  void serve() {
    for (;;) {
      try {
        core_->io.run();
        return;
      } catch (const std::exception& e) {
        log::error("an I/O thread caught an exception and goes on: {}", e.what());
      }
    }
  }

  const std::shared_ptr<ServerCore> core_;
  const int port_;
  std::shared_ptr<Acceptor> acceptor_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
};

Status check(const ServerOptions& options) {
  if (options.io_threads < 1)
    return fail(ErrorCode::kInvalidArgument,
                format("{} I/O threads: at least 1 is needed", options.io_threads));
  if (options.max_connections < 1 || options.max_body_bytes < 0)
    return fail(ErrorCode::kInvalidArgument, "the limits of connections and body bytes must be positive");
  return {};
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Router router,
                                              ServerHooks hooks) {
  PAGODA_TRY(check(options));
  auto core = std::make_shared<ServerCore>(options, std::move(router), std::move(hooks));
  if (!options.tls.key_file.empty() || !options.tls.certificate_file.empty()) {
    PAGODA_ASSIGN(core->tls, make_tls_context(options.tls));
  }
  PAGODA_ASSIGN(Listener listener, Listener::open(options));
  try {
    return std::make_unique<BeastServer>(std::move(core), std::move(listener));
  } catch (const std::exception& e) {
    return fail(ErrorCode::kInternal, format("cannot start the HTTP server: {}", e.what()));
  }
}

}  // namespace pagoda::http
