#include "http/response_head.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>

#include "base/format.h"

namespace pagoda::http {
namespace {

struct Reason {
  int status;
  std::string_view phrase;
};
// RFC 9110, section 15, RFC 6585 and, for 499, the custom of logging a client that left.
constexpr Reason kReasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

// "Sun, 06 Nov 1994 08:49:37 GMT": one formatting per second and thread, whatever the load.
const std::string& http_date() {
  thread_local std::time_t formatted_at = 0;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now == formatted_at) return text;
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm t{};
  ::gmtime_r(&now, &t);
  text = format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[t.tm_wday], t.tm_mday, kMonths[t.tm_mon],
                t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
  formatted_at = now;
  return text;
}

bool set_here(std::string_view name) {
  static constexpr std::string_view kNames[] = {"Connection", "Content-Length", "Content-Type", "Date",
                                                "Transfer-Encoding"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view ours) { return same_field_name(ours, name); });
}

void append_field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ");
  for (const char c : value) head += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
  head += "\r\n";
}

}  // namespace

bool status_has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

std::string_view reason_phrase(int status) {
  const auto* reason = std::lower_bound(std::begin(kReasons), std::end(kReasons), status,
                                        [](const Reason& r, int wanted) { return r.status < wanted; });
  return reason != std::end(kReasons) && reason->status == status ? reason->phrase : "Unknown";
}

std::string serialise_head(const Response& response, const ResponseFraming& framing) {
  std::string head;
  head.reserve(256);
  fmt::format_to(std::back_inserter(head), "HTTP/1.1 {} {}\r\n", response.status,
                 reason_phrase(response.status));
  append_field(head, "Date", http_date());
  // A type among the headers goes before the member, which has a default.
  const std::string_view given_type = response.headers.get("Content-Type");
  const std::string_view type = given_type.empty() ? response.content_type : given_type;
  if (framing.framing != Framing::kNone && !type.empty()) append_field(head, "Content-Type", type);
  for (const auto& [name, value] : response.headers.fields) {
    if (!set_here(name)) append_field(head, name, value);
  }
  if (framing.framing == Framing::kLength) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", response.body.size());
  } else if (framing.framing == Framing::kChunked) {
    head += "Transfer-Encoding: chunked\r\n";
  }
  if (!framing.keep_alive) {
    head += "Connection: close\r\n";
  } else if (framing.http_1_0) {
    head += "Connection: keep-alive\r\n";
  }
  head += "\r\n";
  return head;
}

}  // namespace pagoda::http
