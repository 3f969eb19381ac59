// A blocking HTTP/1.1 client: one connection per request, plain, TLS or Unix socket, answers whole or as they
// come.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"
#include "http/url.h"

namespace pagoda::http {

struct ClientOptions {
  double connect_timeout_s = 10;   // TCP and TLS together; finding the host's address is not counted
  double silence_timeout_s = 600;  // the server neither takes nor sends a byte for so long
  std::string ca_file;             // PEM of the authorities to trust; empty: the system's, or $SSL_CERT_FILE
  bool verify_certificate = true;
  std::string unix_socket;                      // a path: the URL's host is only named in Host
  int64_t max_body_bytes = int64_t{256} << 20;  // of fetch()
};

struct ClientRequest {
  std::string method = "GET";
  Url url;
  Headers headers;  // Host, Content-Length and Connection are set by the client
  std::string body;
};

// For one thread, except cancel(). Redirects are answers like any other. Never raises SIGPIPE.
//
// Errors: kUnavailable (no such host, refused, lost, timed out), kInvalidArgument (the certificate is not
// trusted), kCorruptData (what came is not HTTP), kTooLarge, kCancelled.
class Client {
 public:
  explicit Client(ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Result<Response> fetch(const ClientRequest& request);

  // Called for every piece of the body, de-chunked, as it arrives; `head` has no body. To return false ends
  // the call with success.
  using BodyCallback = std::function<bool(const Response& head, std::string_view bytes)>;
  // Returns the head once the answer has ended.
  Result<Response> stream(const ClientRequest& request, const BodyCallback& on_body);

  // Any thread, and even a signal handler: the call under way ends with kCancelled, within milliseconds
  // unless it is still looking for the host's address. Does nothing when no call is under way.
  void cancel();

 private:
  const ClientOptions options_;
  const int cancel_event_;  // an eventfd; -1 when file descriptors ran out, and then nothing can be cancelled
};

}  // namespace pagoda::http
