// One connected socket, plain or TLS, TCP or Unix: the bytes under a Connection.
// One read and one write may be under way at a time. Callbacks run on the strand of the socket.
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <functional>
#include <memory>
#include <string_view>

namespace boost::asio::ssl {
class context;
}

namespace pagoda::http {

using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;
using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Strand>;

class Transport {
 public:
  using Error = boost::system::error_code;
  using Transferred = std::function<void(Error, size_t bytes)>;

  // `tls` may be nullptr: plain. Otherwise it outlives the transport.
  static std::unique_ptr<Transport> over(Socket socket, boost::asio::ssl::context* tls);
  virtual ~Transport() = default;

  virtual void handshake(std::function<void(Error)> done) = 0;  // at once when plain
  virtual void read_some(char* bytes, size_t size, Transferred done) = 0;
  // Some of `head` followed by `body`; both stay valid until `done`.
  virtual void write_some(std::string_view head, std::string_view body, Transferred done) = 0;
  // No byte will follow from here; the other side may still send.
  virtual void finish_sending(std::function<void()> done) = 0;
  // What is under way ends with an error.
  virtual void close() = 0;
};

}  // namespace pagoda::http
