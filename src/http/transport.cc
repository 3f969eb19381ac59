#include "http/transport.h"

#include <algorithm>
#include <array>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <string>
#include <utility>

namespace pagoda::http {
namespace {

namespace asio = boost::asio;

class PlainTransport : public Transport {
 public:
  explicit PlainTransport(Socket socket) : socket_(std::move(socket)) {}

  void handshake(std::function<void(Error)> done) override { done({}); }

  void read_some(char* bytes, size_t size, Transferred done) override {
    socket_.async_read_some(asio::buffer(bytes, size), std::move(done));
  }

  void write_some(std::string_view head, std::string_view body, Transferred done) override {
    const std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(body)};
    socket_.async_write_some(parts, std::move(done));
  }

  void finish_sending(std::function<void()> done) override {
    Error ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    done();
  }

  void close() override {
    Error ignored;
    socket_.close(ignored);
  }

 private:
  Socket socket_;
};

class TlsTransport : public Transport {
 public:
  TlsTransport(Socket socket, asio::ssl::context& context) : stream_(std::move(socket), context) {}

  void handshake(std::function<void(Error)> done) override {
    stream_.async_handshake(asio::ssl::stream_base::server, std::move(done));
  }

  void read_some(char* bytes, size_t size, Transferred done) override {
    stream_.async_read_some(asio::buffer(bytes, size), std::move(done));
  }

  // A TLS record holds one buffer, so the head and the start of the body are joined into one record.
  void write_some(std::string_view head, std::string_view body, Transferred done) override {
    if (head.empty() || body.empty()) {
      record_ = head.empty() ? body : head;
    } else {
      record_storage_ = head;
      record_storage_ += body.substr(0, kMaxRecordBytes - std::min(kMaxRecordBytes, head.size()));
      record_ = record_storage_;
    }
    stream_.async_write_some(asio::buffer(record_), std::move(done));
  }

  void finish_sending(std::function<void()> done) override {
    stream_.async_shutdown([this, done = std::move(done)](Error) {
      Error ignored;
      stream_.next_layer().shutdown(Socket::shutdown_send, ignored);
      done();
    });
  }

  void close() override {
    Error ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  static constexpr size_t kMaxRecordBytes = size_t{16} << 10;

  asio::ssl::stream<Socket> stream_;
  std::string record_storage_;
  std::string_view record_;
};

}  // namespace

std::unique_ptr<Transport> Transport::over(Socket socket, asio::ssl::context* tls) {
  if (!tls) return std::make_unique<PlainTransport>(std::move(socket));
  return std::make_unique<TlsTransport>(std::move(socket), *tls);
}

}  // namespace pagoda::http
