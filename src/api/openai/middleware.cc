#include "api/openai/middleware.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "api/openai/answer_head.h"
#include "api/openai/cors.h"
#include "api/openai/error_body.h"
#include "api/openai/json_text.h"
#include "base/format.h"
#include "base/log.h"

namespace pagoda::api {
namespace {

constexpr std::string_view kBearer = "bearer ";

// Only what costs the model's time is guarded, as in vLLM: probes and scrapers need no key.
bool guarded(const http::Request& request) {
  return request.method != "OPTIONS" && (request.path == "/v1" || request.path.starts_with("/v1/"));
}

// Looks at every byte of both, whatever they hold. The length of a key is no secret.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(
        difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return difference == 0;
}

void write_line(const MiddlewareOptions& options, const std::string& line) {
  if (options.write_access_line) return options.write_access_line(line);
  if (options.access_log == AccessLog::kText) return log::info("{}", line);
  const std::string whole = line + '\n';
  std::fwrite(whole.data(), 1, whole.size(), stderr);  // one call: lines of threads do not mix
}

// "2026-01-31T12:00:00.000Z"
std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm fields{};
  gmtime_r(&seconds, &fields);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &fields);
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  return format("{}.{:03}Z", text, since % 1000);
}

// Control characters and what breaks a line do not get into the log; the path is the client's to choose.
std::string loggable(std::string_view text) {
  std::string out;
  for (unsigned char c : text.substr(0, 256))
    out += c < 0x20 || c == 0x7f || c == '"' ? '?' : static_cast<char>(c);
  return out;
}

}  // namespace

bool authorized(const std::vector<std::string>& api_keys, std::string_view authorization) {
  if (api_keys.empty()) return true;
  const std::string_view scheme = authorization.substr(0, kBearer.size());
  const bool bearer = std::equal(scheme.begin(), scheme.end(), kBearer.begin(), kBearer.end(),
                                 [](unsigned char a, char b) { return std::tolower(a) == b; });
  if (!bearer) return false;
  authorization.remove_prefix(kBearer.size());
  bool found = false;
  for (const std::string& key : api_keys) found |= equal_in_constant_time(key, authorization);
  return found;
}

std::string access_line(const http::ExchangeRecord& record, AccessLog form) {
  if (form == AccessLog::kText) {
    return format("{} \"{} {}\" {} {} B in, {} B out, {:.1f} ms, id {}", loggable(record.peer),
                  loggable(record.method), loggable(record.path), record.status, record.request_bytes,
                  record.response_bytes, record.seconds * 1e3, loggable(record.request_id));
  }
  std::string out = format(R"({{"time":"{}","level":"info","event":"access")", utc_now());
  const auto add = [&](std::string_view name, std::string_view value) {
    out += format(",\"{}\":", name);
    append_json_string(out, value);
  };
  add("peer", record.peer);
  add("method", record.method);
  add("path", record.path.substr(0, 256));
  add("request_id", record.request_id);
  out += format(R"(,"status":{},"request_bytes":{},"response_bytes":{},"duration_ms":{:.3f}}})",
                record.status, record.request_bytes, record.response_bytes, record.seconds * 1e3);
  return out;
}

http::ServerHooks make_hooks(MiddlewareOptions options,
                             std::function<void(const http::ExchangeRecord&)> record) {
  const auto shared = std::make_shared<const MiddlewareOptions>(std::move(options));
  http::ServerHooks hooks;
  hooks.before = [shared](const std::shared_ptr<http::Exchange>& exchange) {
    const http::Request& request = exchange->request();
    if (is_preflight(request)) {
      exchange->respond(preflight_response(*shared, request));
      return true;
    }
    if (guarded(request) && !authorized(shared->api_keys, request.headers.get("Authorization"))) {
      http::Response response =
          error_response(401, "the API key is missing or wrong: send Authorization: Bearer KEY");
      response.headers.set("WWW-Authenticate", "Bearer");
      exchange->respond(std::move(response));
      return true;
    }
    return false;
  };
  hooks.decorate = [shared](const http::Request& request, http::Headers& headers) {
    add_cors_headers(*shared, request, headers);
    if (shared->request_id_headers)
      headers.set("X-Request-Id", request.id.empty() ? random_id() : request.id);
  };
  hooks.error_response = [](int status, const std::string& message) {
    return error_response(status, message);
  };
  hooks.record = [shared, record = std::move(record)](const http::ExchangeRecord& ended) {
    if (record) record(ended);
    if (shared->access_log != AccessLog::kOff) write_line(*shared, access_line(ended, shared->access_log));
  };
  return hooks;
}

}  // namespace pagoda::api
