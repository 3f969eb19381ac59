// What a socket test cannot see well: how bytes may be cut, and what a claimed length costs.
#include "http/request_parser.h"

#include <gmock/gmock.h>

namespace pagoda::http {
namespace {

using testing::HasSubstr;

// Feeds `bytes` in steps, as a connection does; returns what is left over.
std::string feed(RequestParser& parser, std::string_view bytes, size_t step) {
  std::string input;
  for (size_t at = 0; at < bytes.size(); at += step) {
    input += bytes.substr(at, step);
    input.erase(0, parser.feed(input));
    if (parser.complete()) input += bytes.substr(std::min(at + step, bytes.size()));
    if (parser.complete() || parser.fault()) break;
  }
  return input;
}

TEST(RequestParser, ReadsTheSameWhateverTheCuts) {
  const std::string requests =
      "\r\nPOST /a%20b?q=1 HTTP/1.1\r\nHost: t\r\nX-Long:  spaced value \r\nTransfer-Encoding: "
      "chunked\r\n\r\n"
      "4;x=\"y\"\r\nWiki\r\n5\r\npedia\r\n0\r\nTrailer: 1\r\n\r\nGET /next HTTP/1.1\r\n";
  for (size_t step = 1; step <= requests.size(); ++step) {
    RequestParser parser(100);
    const std::string rest = feed(parser, requests, step);
    ASSERT_TRUE(parser.complete()) << step;
    EXPECT_TRUE(parser.keep_alive());
    EXPECT_EQ(parser.raw_path(), "/a%20b");
    const Request request = parser.take();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/a b");
    EXPECT_EQ(request.query, "q=1");
    EXPECT_EQ(request.body, "Wikipedia");
    EXPECT_EQ(request.headers.get("x-long"), "spaced value");
    EXPECT_EQ(request.headers.get("trailer"), "");
    EXPECT_EQ(rest, "GET /next HTTP/1.1\r\n") << step;
  }
}

TEST(RequestParser, AClaimedLengthCostsNothing) {
  RequestParser parser(int64_t{1} << 40);
  parser.feed("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000000000\r\n\r\nx");
  EXPECT_TRUE(parser.header_complete());
  EXPECT_FALSE(parser.complete());
  EXPECT_LE(parser.take().body.capacity(), size_t{4} << 20);
}

TEST(RequestParser, TheBodysLimitIsExact) {
  for (const std::string head :
       {"Content-Length: 5\r\n\r\nabcde", "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n"}) {
    const std::string request = "POST / HTTP/1.1\r\nHost: t\r\n" + head;
    RequestParser enough(5), short_of_it(4);
    feed(enough, request, 1);
    EXPECT_TRUE(enough.complete());
    feed(short_of_it, request, 1);
    ASSERT_TRUE(short_of_it.fault());
    EXPECT_EQ(short_of_it.fault()->status, 413);
    EXPECT_EQ(short_of_it.take().path, "/") << "the log may name it";
  }
}

TEST(RequestParser, NamesItsFaults) {
  const auto fault_of = [](std::string_view bytes) {
    RequestParser parser(10);
    parser.feed(bytes);
    return parser.fault() ? parser.fault()->message : std::string("none");
  };
  EXPECT_THAT(fault_of("GET / HTTP/1.1\r\n\r\n"), HasSubstr("exactly one Host header"));
  EXPECT_THAT(fault_of("GET /%4 HTTP/1.1\r\nHost: t\r\n\r\n"), HasSubstr("'%'"));
  EXPECT_THAT(fault_of("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: br\r\n\r\n"),
              HasSubstr("Transfer-Encoding: br"));
  EXPECT_THAT(fault_of("\x16\x03\x01\x02"), HasSubstr("TLS handshake"));
  EXPECT_EQ(fault_of("GET / HTTP/1.0\r\n\r\n"), "none") << "HTTP/1.0 knows no Host";
}

}  // namespace
}  // namespace pagoda::http
