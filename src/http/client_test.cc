#include "http/client.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "http/sse.h"
#include "http/test_certificate.h"
#include "http/test_server.h"

namespace pagoda::http {
namespace {

using testing::HasSubstr;
using testing::Not;

Url url_of(int port, const std::string& path, const char* scheme = "http") {
  return Url::parse(std::string(scheme) + "://localhost:" + std::to_string(port) + path).value();
}
ClientRequest post(Url url, std::string body) {
  return {"POST", std::move(url), {}, std::move(body)};
}

TEST(Url, ParsesWhatUsersType) {
  const auto url = Url::parse("HTTPS://api.test:8443/v1?x=1#f");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "api.test");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/v1?x=1");
  EXPECT_EQ(url->text(), "https://api.test:8443/v1?x=1");
  EXPECT_EQ(Url::parse("localhost:8000")->text(), "http://localhost:8000/");
  EXPECT_EQ(Url::parse("https://h")->port, 443);
  EXPECT_EQ(Url::parse("http://h?q")->path, "/?q");
  EXPECT_EQ(Url::parse("http://[::1]:8000/v1")->host, "::1");
  EXPECT_EQ(Url::parse("http://[::1]:8000")->authority(), "[::1]:8000");
  EXPECT_EQ(Url::parse("http://h:80/")->authority(), "h");
  for (const char* bad :
       {"", "http://", "ftp://h", "http://h:0", "http://h:65536", "http://h:", "http://h:8x", "http://u:p@h",
        "http://[::1", "http://[::1]8000", "http://a b", "http://h/\n"})
    EXPECT_FALSE(Url::parse(bad)) << bad;
}

// Answers every connection with the same bytes, then closes it.
class CannedServer {
 public:
  explicit CannedServer(std::string answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~CannedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  int port() const { return port_; }

 private:
  void serve() {
    for (int client; (client = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(client)) {
      char buffer[4096];
      ::recv(client, buffer, sizeof buffer, 0);
      ::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    }
  }
  const std::string answer_;
  int listener_ = -1, port_ = 0;
  std::thread thread_;
};

TEST(Client, FetchesAndPosts) {
  TestServer test;
  const int port = test.start();
  Client client;
  const auto hello = client.fetch({"GET", url_of(port, "/hello"), {}, {}});
  ASSERT_TRUE(hello) << hello.error().message;
  EXPECT_EQ(hello->status, 200);
  EXPECT_EQ(hello->body, "hello");
  EXPECT_EQ(hello->content_type, "text/plain");
  const std::string body(3 << 20, 'b');
  EXPECT_EQ(client.fetch(post(url_of(port, "/echo"), body))->body, body);
  EXPECT_EQ(client.fetch(post(url_of(port, "/echo"), ""))->body, "");
  EXPECT_EQ(client.fetch({"GET", url_of(port, "/nothing"), {}, {}})->status, 404);
  const auto head = client.fetch({"HEAD", url_of(port, "/hello"), {}, {}});
  ASSERT_TRUE(head);
  EXPECT_EQ(head->headers.get("Content-Length"), "5");
  EXPECT_EQ(head->body, "");
}

TEST(Client, StreamsEventsAsTheyCome) {
  TestServer test;
  const int port = test.start();
  std::thread server([&] {
    const auto exchange = test.mailbox.take();
    Response head;
    head.content_type = "text/event-stream";
    exchange->begin_stream(head);
    for (int i = 0; i < 5; ++i) {
      exchange->send("data: " + std::to_string(i) + "\n\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    exchange->send("data: [DONE]\n\n");
    exchange->end();
  });
  Client client;
  SseSplitter splitter;
  std::vector<std::string> events;
  int pieces = 0;
  const auto head =
      client.stream(post(url_of(port, "/wait"), "{}"), [&](const Response& h, std::string_view bytes) {
        EXPECT_EQ(h.content_type, "text/event-stream");
        ++pieces;
        auto fed = splitter.feed(bytes);
        for (auto& event : *fed) events.push_back(std::move(event.data));
        return true;
      });
  server.join();
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_THAT(events, testing::ElementsAre("0", "1", "2", "3", "4", "[DONE]"));
  EXPECT_GT(pieces, 1) << "as they come, not at the end";
}

TEST(Client, TheCallbackMayHaveEnough) {
  TestServer test;
  const int port = test.start();
  Counter gone;
  std::thread server([&] {
    const auto exchange = test.mailbox.take();
    exchange->on_disconnect([&] { gone.add(); });
    exchange->begin_stream({});
    exchange->send("first");
    EXPECT_TRUE(gone.reaches(1)) << "and the server learns of it";
  });
  Client client;
  EXPECT_TRUE(client.stream(post(url_of(port, "/wait"), ""),
                            [](const Response&, std::string_view) { return false; }));
  server.join();
}

TEST(Client, CancelEndsACallFromAnotherThread) {
  TestServer test;
  const int port = test.start();
  Client client;
  client.cancel();  // of nothing: the next call is not concerned
  EXPECT_EQ(client.fetch({"GET", url_of(port, "/hello"), {}, {}})->status, 200);
  std::thread canceller([&] {
    const auto exchange = test.mailbox.take();
    client.cancel();
  });
  const auto start = std::chrono::steady_clock::now();
  const auto cancelled = client.fetch({"GET", url_of(port, "/wait"), {}, {}});
  canceller.join();
  // Dropping the exchange makes a 500, which may win the race.
  if (!cancelled) {
    EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));

  std::shared_ptr<Exchange> held;
  std::thread holder([&] {
    held = test.mailbox.take();
    client.cancel();
  });
  const auto waiting = client.fetch({"GET", url_of(port, "/wait"), {}, {}});
  holder.join();
  ASSERT_FALSE(waiting);
  EXPECT_EQ(waiting.error().code, ErrorCode::kCancelled);
}

TEST(Client, NamesWhatWentWrong) {
  ClientOptions options;
  options.silence_timeout_s = 0.05;
  int free_port = 0;
  {
    TestServer gone;
    free_port = gone.start();
  }
  Client client(options);
  const auto refused = client.fetch({"GET", url_of(free_port, "/"), {}, {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message,
            "cannot connect to localhost:" + std::to_string(free_port) + ": Connection refused");
  EXPECT_THAT(
      client.fetch({"GET", Url::parse("http://no-such-host.invalid").value(), {}, {}}).error().message,
      HasSubstr("cannot find the host no-such-host.invalid"));

  TestServer test;
  const int port = test.start();
  const auto silent = client.fetch({"GET", url_of(port, "/wait"), {}, {}});
  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().message, HasSubstr("did not let the client read its answer"));
  ClientRequest injected{"GET", url_of(port, "/hello"), {}, {}};
  injected.headers.set("X", "a\r\nY: b");
  EXPECT_EQ(client.fetch(injected).error().code, ErrorCode::kInvalidArgument);

  EXPECT_EQ(Client().fetch({"GET", url_of(CannedServer("SSH-2.0-x\r\n").port(), "/"), {}, {}}).error().code,
            ErrorCode::kCorruptData);
}

TEST(Client, TellsACutAnswerFromAWholeOne) {
  struct Case {
    const char* answer;
    const char* body;  // nullptr: an error
  };
  const Case cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", nullptr},
      {"HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n",
       "abcde"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", nullptr},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"},
      {"HTTP/1.1 204 No Content\r\n\r\n", ""},
      {"HTTP/1.1 200 OK\r\nContent-Le", nullptr},
      {"", nullptr},
  };
  Client client;
  for (const Case& c : cases) {
    const CannedServer server(c.answer);
    const auto response = client.fetch({"GET", url_of(server.port(), "/"), {}, {}});
    EXPECT_EQ(response.has_value(), c.body != nullptr) << c.answer;
    if (response && c.body) {
      EXPECT_EQ(response->body, c.body);
    }
  }
}

TEST(Client, LimitsWhatItCollects) {
  TestServer test;
  const int port = test.start();
  ClientOptions options;
  options.max_body_bytes = 100;
  Client client(options);
  EXPECT_TRUE(client.fetch(post(url_of(port, "/echo"), std::string(100, 'x'))));
  EXPECT_EQ(client.fetch(post(url_of(port, "/echo"), std::string(101, 'x'))).error().code,
            ErrorCode::kTooLarge);
}

TEST(Client, HearsARefusalOfItsBody) {
  TestServer test;
  test.options.max_body_bytes = 1000;
  const int port = test.start();
  Client client;
  const auto refused = client.fetch(post(url_of(port, "/echo"), std::string(50 << 20, 'x')));
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->status, 413);
}

TEST(Client, ReachesAUnixSocket) {
  const std::string path = testing::TempDir() + "pagoda_client_test_" + std::to_string(::getpid()) + ".sock";
  TestServer test;
  test.options.unix_socket = path;
  test.start();
  ClientOptions options;
  options.unix_socket = path;
  Client client(options);
  EXPECT_EQ(client.fetch({"GET", Url::parse("http://pagoda/hello").value(), {}, {}})->body, "hello");
}

class Tls : public testing::Test {
 protected:
  Tls() : certificate_(testing::TempDir() + "pagoda_tls_test_" + std::to_string(::getpid())) {
    test_.options.tls = {certificate_.key_file, certificate_.certificate_file};
    port_ = test_.start();
    trusting_.ca_file = certificate_.certificate_file;
  }
  TestCertificate certificate_;
  TestServer test_;
  ClientOptions trusting_;
  int port_ = 0;
};

TEST_F(Tls, ServesAndVerifies) {
  Client client(trusting_);
  const auto hello = client.fetch({"GET", url_of(port_, "/hello", "https"), {}, {}});
  ASSERT_TRUE(hello) << hello.error().message;
  EXPECT_EQ(hello->body, "hello");
  EXPECT_EQ(
      client
          .fetch({"GET", Url::parse("https://127.0.0.1:" + std::to_string(port_) + "/hello").value(), {}, {}})
          ->body,
      "hello");
  const std::string body(3 << 20, 't');
  EXPECT_EQ(client.fetch(post(url_of(port_, "/echo", "https"), body))->body, body);
}

TEST_F(Tls, RefusesWhoIsNotTrusted) {
  Client wary;
  const auto refused = wary.fetch({"GET", url_of(port_, "/hello", "https"), {}, {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("the certificate of localhost is not trusted"));
  ClientOptions careless;
  careless.verify_certificate = false;
  EXPECT_EQ(Client(careless).fetch({"GET", url_of(port_, "/hello", "https"), {}, {}})->body, "hello");
}

TEST_F(Tls, AsksForAClientsCertificate) {
  test_.server.reset();
  test_.options.tls.client_certificate = TlsFiles::ClientCertificate::kRequired;
  EXPECT_EQ(Server::start(test_.options, {}, {}).error().param, "--ssl-ca-certs");
  test_.options.tls.client_ca_file = certificate_.certificate_file;
  port_ = test_.start();
  EXPECT_FALSE(Client(trusting_).fetch({"GET", url_of(port_, "/hello", "https"), {}, {}}));
  test_.server.reset();
  test_.options.tls.client_certificate = TlsFiles::ClientCertificate::kOptional;
  port_ = test_.start();
  EXPECT_TRUE(Client(trusting_).fetch({"GET", url_of(port_, "/hello", "https"), {}, {}}));
}

TEST_F(Tls, NamesTheWrongScheme) {
  EXPECT_FALSE(Client().fetch({"GET", url_of(port_, "/hello"), {}, {}})) << "http:// to a TLS port";
  TestServer plain;
  const auto no_tls = Client(trusting_).fetch({"GET", url_of(plain.start(), "/hello", "https"), {}, {}});
  ASSERT_FALSE(no_tls);
  EXPECT_THAT(no_tls.error().message, HasSubstr("use http://"));
  EXPECT_EQ(RawClient(port_).ask(get("/hello")).status, 0);
  EXPECT_EQ(Client(trusting_).fetch({"GET", url_of(port_, "/hello", "https"), {}, {}})->status, 200);
}

TEST_F(Tls, NoticesWhoLeaves) {
  Counter gone;
  std::thread server([&] {
    const auto exchange = test_.mailbox.take();
    exchange->on_disconnect([&] { gone.add(); });
    exchange->begin_stream({});
    exchange->send("first");
    EXPECT_TRUE(gone.reaches(1));
  });
  Client client(trusting_);
  EXPECT_TRUE(client.stream(post(url_of(port_, "/wait", "https"), ""),
                            [](const Response&, std::string_view) { return false; }));
  server.join();
  EXPECT_EQ(test_.record(0).status, 499);
}

TEST_F(Tls, AnswersAndLingersWhenTheBodyIsTooLarge) {
  test_.server.reset();
  test_.options.max_body_bytes = 1000;
  port_ = test_.start();
  const auto refused =
      Client(trusting_).fetch(post(url_of(port_, "/echo", "https"), std::string(8 << 20, 'x')));
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->status, 413);
}

}  // namespace
}  // namespace pagoda::http
