// One HTTP request of `pagoda chat`, its answer handed over as it comes. http:// and https://, the latter
// checked against the system's certificates.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::app {

struct HttpUrl {
  bool tls = false;
  std::string host;  // without brackets
  std::string port;  // digits
  std::string path;  // from the first '/'
};
Result<HttpUrl> parse_url(const std::string& url);

struct HttpCall {
  std::string method;  // "GET", "POST"
  std::string url;
  std::string bearer;  // API key; empty: none
  std::string body;    // JSON; empty: none
};

// Runs on the calling thread until the answer has ended; returns its status. `on_body` gets the status and
// each piece of the body. Turning `stopped` true (another thread, a signal handler) ends it within 50 ms with
// kCancelled. A server that cannot be reached is kUnavailable.
Result<int> call_http(const HttpCall& call,
                      const std::function<void(int status, std::string_view piece)>& on_body,
                      const std::atomic<bool>& stopped);

}  // namespace pagoda::app
