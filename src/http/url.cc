#include "http/url.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "http/message.h"

namespace pagoda::http {
namespace {

constexpr int kHttpPort = 80, kHttpsPort = 443;

Unexpected bad_url(std::string_view text, std::string_view reason) {
  return fail(ErrorCode::kInvalidArgument, format("{} is not an address: {}", text, reason));
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c == 127; }))
    return bad_url(text, "it has spaces or control characters");
  Url url{"http", {}, 0, "/"};
  std::string_view rest = text.substr(0, text.find('#'));
  if (const size_t mark = rest.find("://"); mark != std::string_view::npos) {
    const std::string_view scheme = rest.substr(0, mark);
    if (same_field_name(scheme, "https")) {
      url.scheme = "https";
    } else if (!same_field_name(scheme, "http")) {
      return bad_url(text, "it must begin with http:// or https://");
    }
    rest.remove_prefix(mark + 3);
  }
  const size_t authority_end = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, authority_end);
  rest.remove_prefix(authority_end);
  if (!rest.empty()) url.path = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest);
  if (authority.find('@') != std::string_view::npos)
    return bad_url(text, "a user name or password in it is not supported");

  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return bad_url(text, "'[' has no ']'");
    url.host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (url.host.empty()) return bad_url(text, "it names no host");
  url.port = url.secure() ? kHttpsPort : kHttpPort;
  if (port.empty()) return url;
  const char* const end = port.data() + port.size();
  const auto parsed = std::from_chars(port.data() + 1, end, url.port);
  if (port.front() != ':' || parsed.ec != std::errc() || parsed.ptr != end || url.port < 1 ||
      url.port > 65535)
    return bad_url(text, "its port is not a number from 1 to 65535");
  return url;
}

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (secure() ? kHttpsPort : kHttpPort) ? name : format("{}:{}", name, port);
}

std::string Url::text() const {
  return scheme + "://" + authority() + path;
}

}  // namespace pagoda::http
