// The first bytes of an answer: status line and headers, with the framing that fits the request.
#pragma once

#include <string>

#include "http/message.h"

namespace pagoda::http {

enum class Framing {
  kLength,      // Content-Length: the body's size
  kChunked,     // Transfer-Encoding: chunked
  kUntilClose,  // a stream for HTTP/1.0: the end of the connection ends it
  kNone,        // 204, 304 and 1xx have no body and say nothing of one
};

struct ResponseFraming {
  Framing framing = Framing::kLength;
  bool http_1_0 = false;
  bool keep_alive = true;
};

// Status line, headers and the empty line. Date, framing and Connection are set here: what `response.headers`
// says of them is dropped. Line breaks in a header's value become spaces, so no value can start a header of
// its own.
std::string serialise_head(const Response& response, const ResponseFraming& framing);

bool status_has_body(int status);
std::string_view reason_phrase(int status);  // "Not Found"; "Unknown" where the status is not in the table

}  // namespace pagoda::http
