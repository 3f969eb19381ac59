// What surrounds every endpoint: API keys, CORS, request ids, the access log. Plugs into the http floor as
// hooks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "http/server.h"

namespace pagoda::api {

enum class AccessLog { kOff, kText, kJson };

struct MiddlewareOptions {
  std::vector<std::string> api_keys;                 // none: open
  std::vector<std::string> allowed_origins = {"*"};  // CORS, as Starlette's middleware reads them
  std::vector<std::string> allowed_methods = {"*"};
  std::vector<std::string> allowed_headers = {"*"};
  bool allow_credentials = false;
  bool request_id_headers = false;  // X-Request-Id on every response
  AccessLog access_log = AccessLog::kText;
  // Where access lines go; empty: the log (text) or stderr (JSON).
  std::function<void(const std::string&)> write_access_line;
};

// The hooks of everything above; `record` is called for each ended exchange as well (metrics).
http::ServerHooks make_hooks(MiddlewareOptions options,
                             std::function<void(const http::ExchangeRecord&)> record);

// "Authorization: Bearer KEY" holds one of the keys. Takes the same time whichever byte differs.
bool authorized(const std::vector<std::string>& api_keys, std::string_view authorization);

// One line, without its newline. Never bodies, queries or keys.
std::string access_line(const http::ExchangeRecord& record, AccessLog form);

}  // namespace pagoda::api
