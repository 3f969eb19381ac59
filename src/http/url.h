// An http or https address, as a user types it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::http {

struct Url {
  std::string scheme;      // "http" or "https"
  std::string host;        // a name or address; IPv6 without brackets
  int port = 0;            // the scheme's (80, 443) when not given
  std::string path = "/";  // with the query, never empty

  // "https://host:8443/v1?x", "http://[::1]:8000", and "localhost:8000", which means http. A fragment is
  // dropped. kInvalidArgument names what is wrong; user names and passwords in an address are refused.
  static Result<Url> parse(std::string_view text);

  std::string authority() const;  // "localhost:8000": for Host; the scheme's own port is left out
  std::string text() const;       // the whole again
  bool secure() const { return scheme == "https"; }
};

}  // namespace pagoda::http
