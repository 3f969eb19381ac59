// The request target: what stands between method and version in the first line (RFC 9112, section 3.2).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::http {

struct RequestTarget {
  std::string raw_path;  // "/v1/models/a%2Fb": still percent-encoded, for the router; "*" of OPTIONS
  std::string path;      // "/v1/models/a/b"
  std::string query;     // after '?', as sent
};

// Takes "/path?query" and "http://host/path?query" (what a client sends to a proxy). A fragment is dropped.
// kInvalidArgument: any other form, a broken %-escape, or an encoded NUL.
Result<RequestTarget> parse_request_target(std::string_view target);

// The path below a root: "/llm/v1" of "/llm" is "/v1", and "/llm" itself is "/". What lies elsewhere is
// returned as it is.
std::string_view without_root(std::string_view path, std::string_view root);

// "%41b" → "Ab"; '+' stays. nullopt where a '%' is not followed by two hex digits, or for %00.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace pagoda::http
