#include "api/openai/middleware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/recorded_exchange.h"

namespace pagoda::api {
namespace {

using ::testing::HasSubstr;
using testing::make_exchange;
using ::testing::Not;

http::Request request_with(std::string method, std::string path,
                           std::vector<std::pair<std::string, std::string>> headers) {
  http::Request request;
  request.method = std::move(method);
  request.path = std::move(path);
  for (auto& [name, value] : headers) request.headers.set(name, value);
  return request;
}

// The status of the answer that `before` gives, or 0 when it lets the request through.
int before(const MiddlewareOptions& options, http::Request request) {
  const auto exchange = std::make_shared<testing::RecordedExchange>(std::move(request));
  return make_hooks(options, nullptr).before(exchange) ? exchange->status() : 0;
}

TEST(ApiKey, GuardsV1Only) {
  MiddlewareOptions options;
  options.api_keys = {"secret-1", "secret-2"};
  EXPECT_EQ(before(options, request_with("POST", "/v1/chat/completions", {})), 401);
  EXPECT_EQ(before(options, request_with("GET", "/v1/models", {{"Authorization", "Bearer wrong-00"}})), 401);
  EXPECT_EQ(before(options, request_with("GET", "/v1/models", {{"Authorization", "secret-1"}})), 401);
  EXPECT_EQ(before(options, request_with("GET", "/v1/models", {{"Authorization", "Bearer secret-1"}})), 0);
  EXPECT_EQ(before(options, request_with("GET", "/v1/models", {{"authorization", "bearer secret-2"}})), 0);
  for (const char* path : {"/health", "/metrics", "/version", "/tokenize", "/v10"}) {
    EXPECT_EQ(before(options, request_with("GET", path, {})), 0) << path;
  }
  EXPECT_EQ(before({}, request_with("POST", "/v1/chat/completions", {})), 0);
}

TEST(ApiKey, SaysWhatToSend) {
  MiddlewareOptions options;
  options.api_keys = {"k"};
  const auto exchange = make_exchange("GET", "/v1/models");
  make_hooks(options, nullptr).before(exchange);
  EXPECT_EQ(exchange->json()["error"]["code"], 401);
  EXPECT_EQ(exchange->json()["error"]["type"], "AuthenticationError");
  EXPECT_EQ(exchange->response().headers.get("WWW-Authenticate"), "Bearer");
}

http::Headers decorated(const MiddlewareOptions& options, const http::Request& request) {
  http::Headers headers;
  make_hooks(options, nullptr).decorate(request, headers);
  return headers;
}

TEST(Cors, SimpleRequests) {
  const auto request = request_with("GET", "/v1/models", {{"Origin", "http://a"}});
  EXPECT_EQ(decorated({}, request).get("Access-Control-Allow-Origin"), "*");
  EXPECT_EQ(decorated({}, request_with("GET", "/", {})).get("Access-Control-Allow-Origin"), "");
  MiddlewareOptions some;
  some.allowed_origins = {"http://b"};
  EXPECT_EQ(decorated(some, request).get("Access-Control-Allow-Origin"), "");
  some.allowed_origins = {"http://a"};
  EXPECT_EQ(decorated(some, request).get("Access-Control-Allow-Origin"), "http://a");
  EXPECT_EQ(decorated(some, request).get("Vary"), "Origin");
  MiddlewareOptions credentials;
  credentials.allow_credentials = true;
  EXPECT_EQ(decorated(credentials, request).get("Access-Control-Allow-Origin"), "http://a");
  EXPECT_EQ(decorated(credentials, request).get("Access-Control-Allow-Credentials"), "true");
}

TEST(Cors, PreflightsNeedNoKey) {
  MiddlewareOptions options;
  options.api_keys = {"k"};
  const auto exchange = std::make_shared<testing::RecordedExchange>(
      request_with("OPTIONS", "/v1/chat/completions",
                   {{"Origin", "http://a"},
                    {"Access-Control-Request-Method", "POST"},
                    {"Access-Control-Request-Headers", "authorization, content-type"}}));
  ASSERT_TRUE(make_hooks(options, nullptr).before(exchange));
  EXPECT_EQ(exchange->status(), 200);
  EXPECT_EQ(exchange->response().headers.get("Access-Control-Allow-Headers"), "authorization, content-type");
  EXPECT_THAT(std::string(exchange->response().headers.get("Access-Control-Allow-Methods")),
              HasSubstr("POST"));
}

TEST(Cors, PreflightsAreRefusedByName) {
  MiddlewareOptions options;
  options.allowed_origins = {"http://b"};
  options.allowed_methods = {"GET"};
  options.allowed_headers = {"Content-Type"};
  const auto exchange = std::make_shared<testing::RecordedExchange>(
      request_with("OPTIONS", "/",
                   {{"Origin", "http://a"},
                    {"Access-Control-Request-Method", "POST"},
                    {"Access-Control-Request-Headers", "content-type, x-other"}}));
  ASSERT_TRUE(make_hooks(options, nullptr).before(exchange));
  EXPECT_EQ(exchange->status(), 400);
  EXPECT_EQ(exchange->response().body, "CORS does not allow this: origin method headers");
}

TEST(RequestIds, StandOnResponsesWhereAsked) {
  http::Request request = request_with("GET", "/health", {});
  request.id = "abc";
  EXPECT_EQ(decorated({}, request).get("X-Request-Id"), "");
  MiddlewareOptions options;
  options.request_id_headers = true;
  EXPECT_EQ(decorated(options, request).get("X-Request-Id"), "abc");
}

http::ExchangeRecord a_record() {
  http::ExchangeRecord record;
  record.method = "POST";
  record.path = "/v1/chat\n\"x\"";
  record.peer = "127.0.0.1:5";
  record.request_id = "id-1";
  record.status = 200;
  record.request_bytes = 10;
  record.response_bytes = 20;
  record.seconds = 0.0125;
  return record;
}

TEST(AccessLog, TextIsOneSafeLine) {
  EXPECT_EQ(access_line(a_record(), AccessLog::kText),
            "127.0.0.1:5 \"POST /v1/chat??x?\" 200 10 B in, 20 B out, 12.5 ms, id id-1");
}

TEST(AccessLog, JsonIsJson) {
  const Json json = Json::parse(access_line(a_record(), AccessLog::kJson));
  EXPECT_EQ(json["path"], "/v1/chat\n\"x\"");
  EXPECT_EQ(json["status"], 200);
  EXPECT_EQ(json["duration_ms"], 12.5);
  EXPECT_THAT(json["time"].get<std::string>(), ::testing::MatchesRegex("20..-..-..T..:..:..[.]...Z"));
}

TEST(AccessLog, IsWrittenWhereAskedAndMetricsSeeEveryRecord) {
  std::vector<std::string> lines;
  int records = 0;
  MiddlewareOptions options;
  options.write_access_line = [&](const std::string& line) { lines.push_back(line); };
  make_hooks(options, [&](const http::ExchangeRecord&) { ++records; }).record(a_record());
  options.access_log = AccessLog::kOff;
  make_hooks(options, [&](const http::ExchangeRecord&) { ++records; }).record(a_record());
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_EQ(records, 2);
}

TEST(ErrorResponse, HasTheContractsForm) {
  const http::Response response = make_hooks({}, nullptr).error_response(413, "too large");
  EXPECT_EQ(
      Json::parse(response.body),
      Json::parse(
          R"({"error":{"message":"too large","type":"RequestTooLargeError","param":null,"code":413}})"));
}

}  // namespace
}  // namespace pagoda::api
