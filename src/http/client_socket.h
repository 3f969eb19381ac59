// The client's end of a connection: blocking calls with time-outs that another thread can end.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client.h"
#include "http/client_tls.h"

namespace pagoda::http {

class ClientSocket {
 public:
  // Tries the host's addresses in turn. `cancel_event` is an eventfd, readable once the call is to end.
  static Result<std::unique_ptr<ClientSocket>> connect(const Url& url, const ClientOptions& options,
                                                       int cancel_event);
  ~ClientSocket();
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  // On kUnavailable with peer_closed() the server stopped reading; it may have answered before it did.
  Status write_all(std::string_view bytes);
  // 0 bytes: the server has closed.
  Result<size_t> read_some(char* bytes, size_t size);
  bool peer_closed() const { return peer_closed_; }

 private:
  ClientSocket(int fd, int cancel_event, std::string peer)
      : fd_(fd), cancel_event_(cancel_event), peer_(std::move(peer)) {}
  Status wait(short events, double seconds, std::string_view action) const;
  Status finish_connecting(double seconds);
  Status secure(const Url& url, const ClientOptions& options);

  const int fd_, cancel_event_;
  const std::string peer_;  // "localhost:8000", for messages
  double silence_timeout_s_ = 0;
  bool peer_closed_ = false;
  std::unique_ptr<ClientTls> tls_;
};

}  // namespace pagoda::http
