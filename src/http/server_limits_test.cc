// What strangers may send: too much, too slowly, too often, or nonsense.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>

#include "http/test_server.h"

namespace pagoda::http {
namespace {

using testing::HasSubstr;

long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atol(line.c_str() + 6);
  }
  return 0;
}

TEST(Limits, BodyOfAGigabyteIsAnsweredAndNeverHeld) {
  TestServer test;
  const int port = test.start();
  const std::string piece(1 << 20, 'x');
  for (const bool chunked : {false, true}) {
    RawClient client(port);
    client.send(std::string("POST /echo HTTP/1.1\r\nHost: t\r\n") +
                (chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Content-Length: 1073741824\r\n\r\n"));
    const long before = resident_kib();
    // A client that reads only after it has sent: 256 MB of it, so that the test stays short.
    int taken = 0;
    for (; taken < 256; ++taken) {
      if (chunked && !client.send("100000\r\n")) break;
      if (!client.send(piece)) break;
      if (chunked && !client.send("\r\n")) break;
    }
    EXPECT_EQ(taken, 256) << "the server must not reset the connection before its answer is read";
    const auto answer = client.read_answer();
    EXPECT_EQ(answer.status, 413);
    EXPECT_THAT(answer.body, HasSubstr("33554432 bytes"));
    EXPECT_TRUE(answer.has("Connection: close"));
    EXPECT_LT(resident_kib() - before, 100 << 10);
  }
  EXPECT_EQ(test.record(0).status, 413);
  EXPECT_EQ(test.record(0).path, "/echo");
}

TEST(Limits, HeadersAtOnceOrByDrops) {
  TestServer test;
  const int port = test.start();
  RawClient at_once(port);
  EXPECT_EQ(at_once.ask(get("/hello", "X: " + std::string(100000, 'a') + "\r\n")).status, 431);
  // Whole lines, one by one, never ending: each alone is small.
  RawClient by_drops(port);
  by_drops.send("GET /hello HTTP/1.1\r\nHost: t\r\n");
  for (int i = 0; i < 200; ++i) {
    if (!by_drops.send("X-Line: " + std::string(1000, 'b') + "\r\n")) break;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  EXPECT_EQ(by_drops.read_answer().status, 431);
  RawClient line(port);
  EXPECT_EQ(line.ask("GET /" + std::string(100000, 'a')).status, 431);
  RawClient extension(port);
  extension.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n1;");
  EXPECT_EQ(extension.ask(std::string(200000, 'e')).status, 400);
}

TEST(Limits, SlowClientsAreToldAndClosed) {
  TestServer test;
  test.options.header_timeout_s = 0.15;
  test.options.body_timeout_s = 0.15;
  test.options.idle_timeout_s = 0.3;
  const int port = test.start();

  RawClient headers(port);
  headers.send("GET /hello HTTP/1.1\r\n");
  for (int i = 0; i < 30; ++i) {  // progress does not buy time
    headers.send("X: 1\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto late = headers.read_answer();
  EXPECT_EQ(late.status, 408);
  EXPECT_THAT(late.body, HasSubstr("headers"));

  RawClient body(port);
  const auto no_body = body.ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(no_body.status, 408);
  EXPECT_THAT(no_body.body, HasSubstr("body"));

  RawClient idle(port);
  EXPECT_EQ(idle.ask(get("/hello")).status, 200);
  EXPECT_TRUE(idle.closed_by_server());
  RawClient silent(port);
  EXPECT_TRUE(silent.closed_by_server());
  EXPECT_EQ(test.record_count(), 3u) << "who said nothing is not recorded";

  // A handler may take its time.
  RawClient patient(port);
  patient.send(get("/wait"));
  const auto exchange = test.mailbox.take();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  exchange->respond(text("at last"));
  EXPECT_EQ(patient.read_answer().body, "at last");
}

TEST(Limits, ConnectionsAboveTheLimitAreTold) {
  TestServer test;
  test.options.max_connections = 2;
  const int port = test.start();
  RawClient first(port), second(port);
  EXPECT_EQ(first.ask(get("/hello")).status, 200);
  EXPECT_EQ(second.ask(get("/hello")).status, 200);
  RawClient third(port);
  const auto refused = third.read_answer();
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("limit of 2 connections"));
  EXPECT_TRUE(third.closed_by_server());
  EXPECT_EQ(first.ask(get("/hello")).status, 200);
  third.close();
  second.close();
  // A place becomes free once the server has seen the others go.
  int status = 0;
  for (int i = 0; i < 100 && status != 200; ++i) {
    status = RawClient(port).ask(get("/hello")).status;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(status, 200);
}

TEST(Limits, RunningOutOfFileDescriptorsIsSurvived) {
  TestServer test;
  const int port = test.start();
  RawClient before(port);
  EXPECT_EQ(before.ask(get("/hello")).status, 200);
  // The client's end needs the last descriptor, so the server has none for its own.
  const int highest = ::dup(0);
  ::close(highest);
  rlimit old;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  const rlimit tight{static_cast<rlim_t>(highest) + 1, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  RawClient waiting(port);
  EXPECT_TRUE(waiting.connected());
  waiting.send(get("/hello"));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(before.ask(get("/hello")).status, 200) << "open connections go on";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_EQ(waiting.read_answer().status, 200) << "and the new one gets its turn";
}

TEST(Limits, NonsenseIs400AndClosed) {
  TestServer test;
  const int port = test.start();
  const std::string post = "POST /echo HTTP/1.1\r\nHost: t\r\n";
  const std::pair<std::string, int> cases[] = {
      {"nonsense\r\n\r\n", 400},
      {"GET\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: t\r\n\r\n", 400},
      {"GET /hello HTTP/2.0\r\nHost: t\r\n\r\n", 400},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"GET /hello HTTP/1.1\nHost: t\n\n", 400},
      {"GET /hello HTTP/1.1\r\n\r\n", 400},  // no Host
      {"GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET /hel\x01lo HTTP/1.1\r\nHost: t\r\n\r\n", 400},
      {"GET /%zz HTTP/1.1\r\nHost: t\r\n\r\n", 400},
      {"GET hello HTTP/1.1\r\nHost: t\r\n\r\n", 400},
      {"GET /hello HTTP/1.1\r\nHost: t\r\nBad Name: 1\r\n\r\n", 400},
      {"GET /hello HTTP/1.1\r\nHost : t\r\n\r\n", 400},
      {std::string("GET /hello HTTP/1.1\r\nHost: t\r\nX: a\0b\r\n\r\n", 40), 400},
      {post + "Content-Length: -1\r\n\r\n", 400},
      {post + "Content-Length: 1x\r\n\r\n", 400},
      {post + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400},
      // Two lengths of one body are how requests are smuggled.
      {post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
      {post + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400},
      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},
      {"\r\n\r\n\r\n\x7f", 400},
  };
  for (const auto& [bytes, status] : cases) {
    RawClient client(port);
    const auto answer = client.ask(bytes);
    EXPECT_EQ(answer.status, status) << testing::PrintToString(bytes);
    EXPECT_TRUE(answer.has("Connection: close")) << testing::PrintToString(bytes);
    EXPECT_TRUE(client.closed_by_server()) << testing::PrintToString(bytes);
  }
  EXPECT_THAT(RawClient(port).ask("\x16\x03\x01 and more of a handshake").body, HasSubstr("https://"));
  EXPECT_EQ(RawClient(port).ask("\r\n\r\n" + get("/hello")).status, 200) << "empty lines first are allowed";
  EXPECT_EQ(RawClient(port).ask(get("http://elsewhere/hello")).status, 200);
}

TEST(Limits, ARequestThatEndsEarlyIsDropped) {
  TestServer test;
  const int port = test.start();
  for (const char* part : {"", "GET /hel", "GET /hello HTTP/1.1\r\nHost: t\r\n",
                           "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nab"}) {
    RawClient client(port);
    client.send(part);
    client.half_close();
    EXPECT_TRUE(client.closed_by_server()) << part;
  }
  EXPECT_EQ(test.record_count(), 0u);
}

}  // namespace
}  // namespace pagoda::http
