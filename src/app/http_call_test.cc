#include "app/http_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::app {
namespace {

TEST(ParseUrl, SplitsAddresses) {
  const auto plain = parse_url("http://127.0.0.1:8000/v1/models");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->tls);
  EXPECT_EQ(plain->host, "127.0.0.1");
  EXPECT_EQ(plain->port, "8000");
  EXPECT_EQ(plain->path, "/v1/models");
  const auto tls = parse_url("https://example.org");
  ASSERT_TRUE(tls);
  EXPECT_TRUE(tls->tls);
  EXPECT_EQ(tls->port, "443");
  EXPECT_EQ(tls->path, "/");
  const auto six = parse_url("http://[::1]:81/x");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->port, "81");
}

TEST(ParseUrl, SaysWhatIsWrong) {
  using testing::HasSubstr;
  EXPECT_THAT(parse_url("localhost:8000").error().message, HasSubstr("http://"));
  EXPECT_THAT(parse_url("ftp://x").error().message, HasSubstr("http://"));
  EXPECT_THAT(parse_url("http:///v1").error().message, HasSubstr("no host"));
  EXPECT_THAT(parse_url("http://h:x/").error().message, HasSubstr("port"));
  EXPECT_THAT(parse_url("http://h:123456/").error().message, HasSubstr("port"));
}

TEST(CallHttp, NobodyListens) {
  const std::atomic<bool> never{false};
  const auto status = call_http(
      {"GET", "http://127.0.0.1:1/", "", ""}, [](int, std::string_view) {}, never);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(status.error().message, testing::HasSubstr("127.0.0.1:1: cannot connect"));
}

}  // namespace
}  // namespace pagoda::app
