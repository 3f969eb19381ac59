#include "api/openai/cors.h"

#include <algorithm>
#include <cctype>

namespace pagoda::api {
namespace {

constexpr std::string_view kAllMethods = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";
constexpr std::string_view kMaxAgeSeconds = "600";

bool holds(const std::vector<std::string>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}
bool allows_all(const std::vector<std::string>& list) {
  return holds(list, "*");
}

bool origin_allowed(const MiddlewareOptions& options, std::string_view origin) {
  return allows_all(options.allowed_origins) || holds(options.allowed_origins, origin);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& entry : list) out += (out.empty() ? "" : ", ") + entry;
  return out;
}

bool method_allowed(const MiddlewareOptions& options, std::string_view method) {
  if (!allows_all(options.allowed_methods)) return holds(options.allowed_methods, method);
  return kAllMethods.find(method) != std::string_view::npos;
}

// Each of the comma-separated names, whatever its case.
bool headers_allowed(const MiddlewareOptions& options, std::string_view names) {
  if (allows_all(options.allowed_headers)) return true;
  while (!names.empty()) {
    const size_t comma = names.find(',');
    std::string name = lower(names.substr(0, comma));
    name.erase(0, name.find_first_not_of(' '));
    const bool known = std::any_of(options.allowed_headers.begin(), options.allowed_headers.end(),
                                   [&](const std::string& allowed) { return lower(allowed) == name; });
    if (!known) return false;
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  }
  return true;
}

// "*" may not stand beside credentials: the origin itself then does.
void set_origin(const MiddlewareOptions& options, std::string_view origin, http::Headers& headers) {
  if (allows_all(options.allowed_origins) && !options.allow_credentials) {
    headers.set("Access-Control-Allow-Origin", "*");
  } else {
    headers.set("Access-Control-Allow-Origin", std::string(origin));
    headers.set("Vary", "Origin");
  }
  if (options.allow_credentials) headers.set("Access-Control-Allow-Credentials", "true");
}

}  // namespace

bool is_preflight(const http::Request& request) {
  return request.method == "OPTIONS" && !request.headers.get("Origin").empty() &&
         !request.headers.get("Access-Control-Request-Method").empty();
}

http::Response preflight_response(const MiddlewareOptions& options, const http::Request& request) {
  const std::string_view origin = request.headers.get("Origin");
  const std::string_view wanted_headers = request.headers.get("Access-Control-Request-Headers");
  std::string refused;
  if (!origin_allowed(options, origin)) refused += " origin";
  if (!method_allowed(options, request.headers.get("Access-Control-Request-Method"))) refused += " method";
  if (!headers_allowed(options, wanted_headers)) refused += " headers";
  http::Response response;
  response.content_type = "text/plain; charset=utf-8";
  if (!refused.empty()) {
    response.status = 400;
    response.body = "CORS does not allow this:" + refused;
    return response;
  }
  response.body = "OK";
  set_origin(options, origin, response.headers);
  const bool all_methods = allows_all(options.allowed_methods);
  response.headers.set("Access-Control-Allow-Methods",
                       all_methods ? std::string(kAllMethods) : joined(options.allowed_methods));
  response.headers.set("Access-Control-Max-Age", std::string(kMaxAgeSeconds));
  const std::string allowed_headers =
      allows_all(options.allowed_headers) ? std::string(wanted_headers) : joined(options.allowed_headers);
  if (!allowed_headers.empty()) response.headers.set("Access-Control-Allow-Headers", allowed_headers);
  return response;
}

void add_cors_headers(const MiddlewareOptions& options, const http::Request& request,
                      http::Headers& headers) {
  const std::string_view origin = request.headers.get("Origin");
  if (origin.empty() || is_preflight(request) || !origin_allowed(options, origin)) return;
  set_origin(options, origin, headers);
  if (options.request_id_headers) headers.set("Access-Control-Expose-Headers", "X-Request-Id");
}

}  // namespace pagoda::api
