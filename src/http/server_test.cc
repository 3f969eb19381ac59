#include "http/server.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "http/test_server.h"

namespace pagoda::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Server, AnswersAndKeepsTheConnection) {
  TestServer test;
  RawClient client(test.start());
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.ask(get("/hello"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_TRUE(answer.head.starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_TRUE(answer.has("Content-Type: text/plain"));
    EXPECT_TRUE(answer.has("Content-Length: 5"));
    EXPECT_THAT(answer.head, HasSubstr("\r\nDate: "));
    EXPECT_THAT(answer.head, Not(HasSubstr("Connection:")));
  }
}

TEST(Server, ReadsARequestByteByByte) {
  TestServer test;
  RawClient client(test.start());
  for (const char c : std::string("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nabcd"))
    client.send({&c, 1});
  EXPECT_EQ(client.read_answer().body, "abcd");
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  TestServer test;
  RawClient client(test.start());
  client.send(get("/wait") + get("/hello") + get("/wait") + get("/nothing"));
  const auto first = test.mailbox.take();
  ASSERT_TRUE(first);
  EXPECT_TRUE(test.mailbox.empty()) << "one request at a time";
  first->respond(text("first"));
  EXPECT_EQ(client.read_answer().body, "first");
  EXPECT_EQ(client.read_answer().body, "hello");
  test.mailbox.take()->respond(text("third"));
  EXPECT_EQ(client.read_answer().body, "third");
  EXPECT_EQ(client.read_answer().status, 404);
}

TEST(Server, AnswersManyPipelinedRequests) {
  TestServer test;
  RawClient client(test.start());
  std::string requests;
  for (int i = 0; i < 4000; ++i) requests += get("/hello");  // more than is kept while a handler works
  std::thread sender([&] { EXPECT_TRUE(client.send(requests)); });
  for (int i = 0; i < 4000; ++i) ASSERT_EQ(client.read_answer().body, "hello") << i;
  sender.join();
}

TEST(Server, JoinsChunkedBodiesAndDropsTrailers) {
  TestServer test;
  RawClient client(test.start());
  client.send(
      "POST /wait HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;name=value\r\nabc\r\n1\r\n\n\r\n0\r\nX-Trailer: 1\r\n\r\n");
  const auto exchange = test.mailbox.take();
  ASSERT_TRUE(exchange);
  EXPECT_EQ(exchange->request().body, "abc\n");
  EXPECT_EQ(exchange->request().headers.get("X-Trailer"), "");
  exchange->respond(text("ok"));
  EXPECT_EQ(client.read_answer().body, "ok");
}

TEST(Server, SendsContinueOnlyWhenItWantsTheBody) {
  TestServer test;
  test.options.max_body_bytes = 10;
  const int port = test.start();
  RawClient client(port);
  client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 100);
  client.send("ok");
  EXPECT_EQ(client.read_answer().body, "ok");
  // The body comes along: nothing to wait for.
  EXPECT_EQ(
      client.ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nok")
          .status,
      200);
  EXPECT_EQ(client.ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n")
                .status,
            413);
  RawClient other(port);
  EXPECT_EQ(
      other.ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nExpect: miracle\r\n\r\n").status,
      417);
}

TEST(Server, ServesHeadOptionsAndRefusesOtherMethods) {
  TestServer test;
  RawClient client(test.start());
  client.send("HEAD /hello HTTP/1.1\r\nHost: t\r\n\r\n");
  const auto head = client.read_answer(/*of_head=*/true);
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.has("Content-Length: 5"));
  const auto options = client.ask("OPTIONS /wait HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(options.status, 204);
  EXPECT_TRUE(options.has("Allow: GET, HEAD, OPTIONS, POST"));
  EXPECT_THAT(options.head, Not(HasSubstr("Content-")));
  EXPECT_EQ(client.ask("OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n").status, 204);
  const auto refused = client.ask("DELETE /hello HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(refused.status, 405);
  EXPECT_TRUE(refused.has("Allow: GET, HEAD, OPTIONS"));
  EXPECT_EQ(client.ask(get("/hello/more")).status, 404);
}

TEST(Server, SpeaksHttp10) {
  TestServer test;
  const int port = test.start();
  RawClient once(port);
  const auto answer = once.ask("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_EQ(answer.body, "hello");
  EXPECT_TRUE(answer.has("Connection: close"));
  EXPECT_TRUE(once.closed_by_server());
  RawClient kept(port);
  EXPECT_TRUE(
      kept.ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").has("Connection: keep-alive"));
  EXPECT_EQ(kept.ask("GET /hello HTTP/1.0\r\n\r\n").body, "hello");
}

TEST(Server, ClosesWhenAskedTo) {
  TestServer test;
  RawClient client(test.start());
  const auto answer = client.ask(get("/hello", "Connection: close\r\n"));
  EXPECT_EQ(answer.body, "hello");
  EXPECT_TRUE(answer.has("Connection: close"));
  EXPECT_TRUE(client.closed_by_server());
}

TEST(Server, StreamsInChunks) {
  TestServer test;
  const int port = test.start();
  RawClient client(port);
  client.send(get("/wait"));
  auto exchange = test.mailbox.take();
  ASSERT_TRUE(exchange);
  Response head;
  head.content_type = "text/event-stream";
  exchange->begin_stream(head);
  exchange->send("data: 1\n\n");
  EXPECT_THAT(client.read_some(), HasSubstr("Transfer-Encoding: chunked\r\n"));
  exchange->send("");  // an empty chunk would end the stream
  exchange->send("data: 2\n\n");
  EXPECT_THAT(client.read_some(), HasSubstr("data: 2\n\n\r\n"));
  exchange->end();
  EXPECT_THAT(client.read_some(), HasSubstr("0\r\n\r\n"));
  EXPECT_EQ(client.ask(get("/hello")).body, "hello") << "the connection is kept";

  // HTTP/1.0 has no chunks: the end of the connection ends the stream.
  RawClient old(port);
  old.send("GET /wait HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  exchange = test.mailbox.take();
  exchange->begin_stream(head);
  exchange->send("a");
  exchange->send("b");
  exchange->end();
  const auto answer = old.read_answer();
  EXPECT_EQ(answer.body, "ab");
  EXPECT_THAT(answer.head, Not(HasSubstr("chunked")));

  client.send("HEAD /wait HTTP/1.1\r\nHost: t\r\n\r\n");
  exchange = test.mailbox.take();
  exchange->begin_stream(head);
  exchange->send("unseen");
  exchange->end();
  EXPECT_EQ(client.read_answer(/*of_head=*/true).status, 200);
  EXPECT_EQ(client.ask(get("/hello")).body, "hello");
}

TEST(Server, SendsWhatIsQueuedInOneChunk) {
  TestServer test;
  // On the strand nothing is written before the handler returns the strand, except the head.
  test.router.add("GET", "/burst", [&](std::shared_ptr<Exchange> exchange) {
    exchange->begin_stream({});
    for (int i = 0; i < 100; ++i) exchange->send("x");
    exchange->end();
  });
  RawClient client(test.start());
  client.send(get("/burst"));
  std::string all;
  while (all.find("0\r\n\r\n") == std::string::npos) {
    const std::string more = client.read_some();
    ASSERT_FALSE(more.empty());
    all += more;
  }
  EXPECT_THAT(all, HasSubstr("\r\n\r\n64\r\n" + std::string(100, 'x') + "\r\n0\r\n\r\n"));
}

TEST(Server, SendsLargeAnswersWhole) {
  TestServer test;
  RawClient client(test.start());
  std::string body(20 << 20, ' ');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 2654435761u >> 24);
  client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n");
  client.send(body);
  EXPECT_TRUE(client.read_answer().body == body);
}

TEST(Server, TurnsAHandlersFaultInto500) {
  TestServer test;
  test.router.add("GET", "/drop", [](std::shared_ptr<Exchange>) {});
  test.router.add("GET", "/throw-late", [](std::shared_ptr<Exchange> exchange) {
    exchange->respond(text("answered"));
    throw std::runtime_error("late");
  });
  test.router.add("GET", "/cut", [](std::shared_ptr<Exchange> exchange) {
    exchange->begin_stream({});
    exchange->send("half");
  });
  test.router.add("GET", "/twice", [](std::shared_ptr<Exchange> exchange) {
    exchange->respond(text("one"));
    exchange->respond(text("two"));
    exchange->send("three");
    exchange->end();
  });
  const int port = test.start();
  RawClient client(port);
  const auto thrown = client.ask(get("/throw"));
  EXPECT_EQ(thrown.status, 500);
  EXPECT_THAT(thrown.body, Not(HasSubstr("secret")));
  EXPECT_EQ(client.ask(get("/drop")).status, 500);
  EXPECT_EQ(client.ask(get("/throw-late")).body, "answered");
  EXPECT_EQ(client.ask(get("/twice")).body, "one");
  EXPECT_EQ(client.ask(get("/hello")).body, "hello");
  EXPECT_EQ(test.record(4).status, 200);
  EXPECT_EQ(RawClient(port).ask(get("/cut")).body, "half<cut>") << "never as if it were whole";
  EXPECT_EQ(test.record(5).status, 500);
}

TEST(Server, GivesHooksTheirSay) {
  TestServer test;
  test.hooks.before = [](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().headers.get("Authorization") == "Bearer key") return false;
    exchange->respond(text("who?", 401));
    return true;
  };
  test.hooks.decorate = [](const Request& request, Headers& headers) {
    headers.set("X-Request-Id", request.id);
    headers.set("X-Evil", "a\r\nInjected: 1");
  };
  test.hooks.error_response = [](int status, const std::string& message) {
    return text("<" + message + ">", status);
  };
  RawClient client(test.start());
  EXPECT_EQ(client.ask(get("/hello")).body, "who?");
  const auto answer = client.ask(get("/hello", "Authorization: Bearer key\r\nX-Request-Id: mine-7\r\n"));
  EXPECT_EQ(answer.body, "hello");
  EXPECT_TRUE(answer.has("X-Request-Id: mine-7"));
  EXPECT_TRUE(answer.has("X-Evil: a  Injected: 1"));
  EXPECT_EQ(client.ask(get("/nothing?x=1", "Authorization: Bearer key\r\n")).body, "<there is no /nothing>");
  const auto made = client.ask(get("/hello", "X-Request-Id: has spaces\r\n"));
  EXPECT_THAT(made.head, Not(HasSubstr("has spaces")));

  const ExchangeRecord second = test.record(1);
  EXPECT_EQ(second.method, "GET");
  EXPECT_EQ(second.path, "/hello");
  EXPECT_EQ(second.pattern, "/hello");
  EXPECT_EQ(second.request_id, "mine-7");
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(
      second.request_bytes,
      static_cast<int64_t>(get("/hello", "Authorization: Bearer key\r\nX-Request-Id: mine-7\r\n").size()));
  EXPECT_EQ(second.response_bytes, static_cast<int64_t>(answer.head.size() + 2 + answer.body.size()));
  EXPECT_THAT(second.peer, HasSubstr("127.0.0.1:"));
  EXPECT_GE(second.seconds, 0);
  EXPECT_LT(second.seconds, 1);
  EXPECT_EQ(test.record(2).pattern, "");
  EXPECT_EQ(test.record(3).request_id.size(), 32u);
}

TEST(Server, GivesHandlersTheDecodedRequest) {
  TestServer test;
  test.router.add("GET", "/models/{model...}", test.mailbox.handler());
  RawClient client(test.start());
  client.send(get("/models/org%2Fname%20x?a=%201", "X-Two: 2\r\n"));
  const auto exchange = test.mailbox.take();
  ASSERT_TRUE(exchange);
  const Request& request = exchange->request();
  EXPECT_EQ(request.path, "/models/org/name x");
  EXPECT_EQ(request.query, "a=%201");
  EXPECT_EQ(request.headers.get("x-two"), "2");
  ASSERT_EQ(request.parameters.size(), 1u);
  EXPECT_EQ(request.parameters[0].second, "org/name x");
}

TEST(Server, DrainsWhenItStopsAccepting) {
  TestServer test;
  const int port = test.start();
  RawClient idle(port), busy(port);
  idle.ask(get("/hello"));
  EXPECT_EQ(test.record(0).status, 200);
  busy.send(get("/wait"));
  const auto exchange = test.mailbox.take();
  ASSERT_TRUE(exchange);
  EXPECT_EQ(test.server->open_exchanges(), 1);
  test.server->stop_accepting();
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_FALSE(RawClient(port).connected());
  exchange->respond(text("last"));
  const auto answer = busy.read_answer();
  EXPECT_EQ(answer.body, "last");
  EXPECT_TRUE(answer.has("Connection: close"));
  EXPECT_TRUE(busy.closed_by_server());
  EXPECT_EQ(test.record(1).status, 200);
  EXPECT_EQ(test.server->open_exchanges(), 0);
}

TEST(Server, ExchangesOutliveTheServer) {
  Counter gone;
  std::shared_ptr<Exchange> waiting, streaming;
  {
    TestServer test;
    const int port = test.start();
    RawClient first(port), second(port);
    first.send(get("/wait"));
    waiting = test.mailbox.take();
    second.send(get("/wait"));
    streaming = test.mailbox.take();
    streaming->begin_stream({});
    waiting->on_disconnect([&] { gone.add(); });
    streaming->on_disconnect([&] { gone.add(); });
    test.server.reset();
    EXPECT_EQ(gone.value(), 2);
    EXPECT_EQ(test.record_count(), 2u);
  }
  waiting->respond(text("into the void"));
  streaming->send("into the void");
  streaming->end();
  EXPECT_EQ(waiting->request().path, "/wait");
}

TEST(Server, ServesAUnixSocket) {
  const std::string path = testing::TempDir() + "pagoda_http_test_" + std::to_string(::getpid()) + ".sock";
  TestServer test;
  test.options.unix_socket = path;
  EXPECT_EQ(test.start(), 0);
  EXPECT_EQ(RawClient(path).ask(get("/hello")).body, "hello");
  EXPECT_EQ(test.record(0).peer, "unix");

  const auto second = Server::start(test.options, {}, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  test.server.reset();
  struct stat status;
  EXPECT_NE(::stat(path.c_str(), &status), 0) << "the socket is removed with the server";

  // A socket that a killed server left behind is replaced; any other file stays.
  const int stale = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(stale, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(stale);
  test.start();
  EXPECT_EQ(RawClient(path).ask(get("/hello")).body, "hello");
  test.server.reset();
  std::fclose(std::fopen(path.c_str(), "w"));
  const auto on_file = Server::start(test.options, {}, {});
  ASSERT_FALSE(on_file);
  EXPECT_EQ(on_file.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  ::unlink(path.c_str());
}

TEST(Server, NamesWhoHasThePort) {
  TestServer test;
  ServerOptions options;
  options.port = test.start();
  const auto second = Server::start(options, {}, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message,
              HasSubstr("127.0.0.1:" + std::to_string(options.port) + " is in use by"));
  EXPECT_THAT(second.error().message, HasSubstr("(PID " + std::to_string(::getpid()) + ")"));
  EXPECT_THAT(second.error().message, HasSubstr("--port"));
}

TEST(Server, RefusesAddressesThatCannotBe) {
  ServerOptions options;
  options.port = 70000;
  EXPECT_EQ(Server::start(options, {}, {}).error().code, ErrorCode::kInvalidArgument);
  options.port = 0;
  options.host = "192.0.2.1";  // a documentation address: nobody has it
  EXPECT_EQ(Server::start(options, {}, {}).error().param, "--host");
  options.host = "no such host";
  EXPECT_EQ(Server::start(options, {}, {}).error().param, "--host");
  options.host.clear();
  options.unix_socket = "/" + std::string(200, 'x');
  EXPECT_EQ(Server::start(options, {}, {}).error().param, "--uds");
  options.unix_socket.clear();
  options.tls = {"/nonexistent/key.pem", "/nonexistent/certificate.pem"};
  EXPECT_EQ(Server::start(options, {}, {}).error().param, "--ssl-certfile");
}

TEST(Server, ListensOnEveryAddressOfBothFamilies) {
  TestServer test;
  test.options.host = "::";
  if (auto started = Server::start(test.options, test.router, test.hooks); !started) {
    GTEST_SKIP() << "no IPv6 here: " << started.error().message;
  } else {
    test.server = std::move(*started);
  }
  EXPECT_EQ(RawClient(test.server->port()).ask(get("/hello")).body, "hello");
  EXPECT_THAT(test.record(0).peer, testing::StartsWith("127.0.0.1:"));
}

}  // namespace
}  // namespace pagoda::http
