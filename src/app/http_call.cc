#include "app/http_call.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <optional>

#include "app/version.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using ErrorCodeOfSystem = beast::error_code;
using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

constexpr std::chrono::milliseconds kPollPeriod(50);
constexpr std::chrono::seconds kConnectTimeout(10);

// Asynchronous operations, waited for one by one on this thread, so that `stopped` can end each of them.
class Waiter {
 public:
  explicit Waiter(const std::atomic<bool>& stopped) : stopped_(stopped) {}

  asio::io_context& io() { return io_; }

  // `start` begins an operation with the handler it is given; `cancel` ends it early.
  template <class Start, class Cancel>
  ErrorCodeOfSystem wait(Start start, Cancel cancel) {
    if (stopped_) return asio::error::operation_aborted;
    std::optional<ErrorCodeOfSystem> done;
    start([&done](ErrorCodeOfSystem error, auto&&...) { done = error; });
    while (!done) {
      io_.restart();
      io_.run_for(kPollPeriod);
      if (done || !stopped_) continue;
      cancel();
      io_.restart();
      io_.run();
      return asio::error::operation_aborted;
    }
    return *done;
  }

 private:
  asio::io_context io_;
  const std::atomic<bool>& stopped_;
};

Unexpected failed(const HttpUrl& url, const std::atomic<bool>& stopped, std::string_view what,
                  ErrorCodeOfSystem error) {
  if (stopped) return fail(ErrorCode::kCancelled, "stopped");
  return fail(ErrorCode::kUnavailable, format("{}:{}: {}: {}", url.host, url.port, what, error.message()));
}

http::request<http::string_body> request_of(const HttpCall& call, const HttpUrl& url) {
  http::request<http::string_body> request;
  request.method_string(call.method);
  request.target(url.path);
  request.version(11);
  const std::string host = url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  request.set(http::field::host, host + ":" + url.port);
  request.set(http::field::user_agent, format("pagoda/{}", version()));
  request.set(http::field::connection, "close");
  if (!call.bearer.empty()) request.set(http::field::authorization, "Bearer " + call.bearer);
  if (!call.body.empty()) {
    request.set(http::field::content_type, "application/json");
    request.body() = call.body;
  }
  request.prepare_payload();
  return request;
}

// Sends the request over a connected stream and hands over the answer.
template <class Stream>
Result<int> exchange(Stream& stream, Waiter& waiter, const HttpCall& call, const HttpUrl& url,
                     const std::function<void(int, std::string_view)>& on_body,
                     const std::atomic<bool>& stopped) {
  const auto cancel = [&] { beast::get_lowest_layer(stream).cancel(); };
  const auto request = request_of(call, url);
  auto error = waiter.wait([&](auto done) { http::async_write(stream, request, done); }, cancel);
  if (error) return failed(url, stopped, "the request could not be sent", error);

  beast::flat_buffer buffer;
  http::response_parser<http::buffer_body> parser;
  parser.body_limit(boost::none);
  error = waiter.wait([&](auto done) { http::async_read_header(stream, buffer, parser, done); }, cancel);
  if (error) return failed(url, stopped, "no answer", error);
  const int status = parser.get().result_int();
  std::array<char, 16384> piece;
  while (!parser.is_done()) {
    auto& body = parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    error = waiter.wait([&](auto done) { http::async_read_some(stream, buffer, parser, done); }, cancel);
    const size_t count = piece.size() - parser.get().body().size;
    if (count > 0) on_body(status, {piece.data(), count});
    if (error && error != http::error::need_buffer)
      return failed(url, stopped, "the answer broke off", error);
  }
  return status;
}

Status connect(PlainStream& stream, Waiter& waiter, const HttpUrl& url, const std::atomic<bool>& stopped) {
  tcp::resolver resolver(waiter.io());
  tcp::resolver::results_type addresses;
  auto error = waiter.wait(
      [&](auto done) {
        resolver.async_resolve(url.host, url.port, [&, done](ErrorCodeOfSystem code, auto found) mutable {
          addresses = found;
          done(code);
        });
      },
      [&] { resolver.cancel(); });
  if (error) return failed(url, stopped, "unknown host", error);
  stream.expires_after(kConnectTimeout);
  error = waiter.wait([&](auto done) { stream.async_connect(addresses, done); }, [&] { stream.cancel(); });
  if (error) return failed(url, stopped, "cannot connect", error);
  stream.expires_never();  // an answer may wait in a queue for long; the person decides
  return {};
}

Result<int> call_over_tls(Waiter& waiter, const HttpCall& call, const HttpUrl& url,
                          const std::function<void(int, std::string_view)>& on_body,
                          const std::atomic<bool>& stopped) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  context.set_default_verify_paths();
  context.set_verify_mode(asio::ssl::verify_peer);
  TlsStream stream(waiter.io(), context);
  stream.set_verify_callback(asio::ssl::host_name_verification(url.host));
  ::SSL_set_tlsext_host_name(stream.native_handle(), url.host.c_str());
  PAGODA_TRY(connect(beast::get_lowest_layer(stream), waiter, url, stopped));
  const auto error =
      waiter.wait([&](auto done) { stream.async_handshake(asio::ssl::stream_base::client, done); },
                  [&] { beast::get_lowest_layer(stream).cancel(); });
  if (error) return failed(url, stopped, "no TLS connection", error);
  return exchange(stream, waiter, call, url, on_body, stopped);
}

}  // namespace

Result<HttpUrl> parse_url(const std::string& text) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorCode::kInvalidArgument, format("'{}' is no address: {}", text, why), "url");
  };
  HttpUrl url;
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string::npos) return wrong("it does not begin with http:// or https://");
  const std::string scheme = text.substr(0, scheme_end);
  if (scheme != "http" && scheme != "https") return wrong("it does not begin with http:// or https://");
  url.tls = scheme == "https";
  const size_t path = text.find('/', scheme_end + 3);
  url.path = path == std::string::npos ? "/" : text.substr(path);
  std::string authority =
      text.substr(scheme_end + 3, path == std::string::npos ? path : path - scheme_end - 3);
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  url.port = colon == std::string::npos ? (url.tls ? "443" : "80") : authority.substr(colon + 1);
  url.host = authority.substr(0, colon);
  if (url.host.starts_with('[') && url.host.ends_with(']'))
    url.host = url.host.substr(1, url.host.size() - 2);
  if (url.host.empty()) return wrong("it names no host");
  if (url.port.empty() || url.port.size() > 5 ||
      url.port.find_first_not_of("0123456789") != std::string::npos) {
    return wrong("its port is no number");
  }
  return url;
}

Result<int> call_http(const HttpCall& call, const std::function<void(int, std::string_view)>& on_body,
                      const std::atomic<bool>& stopped) {
  PAGODA_ASSIGN(const HttpUrl url, parse_url(call.url));
  try {
    Waiter waiter(stopped);
    if (url.tls) return call_over_tls(waiter, call, url, on_body, stopped);
    PlainStream stream(waiter.io());
    PAGODA_TRY(connect(stream, waiter, url, stopped));
    return exchange(stream, waiter, call, url, on_body, stopped);
  } catch (const std::exception& fault) {  // Asio's objects may throw where the system gives them nothing
    return fail(ErrorCode::kInternal, format("{}:{}: {}", url.host, url.port, fault.what()));
  }
}

}  // namespace pagoda::app
