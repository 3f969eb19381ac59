// Clients that leave: noticed while a handler works, while it streams, and when they stop reading.
#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <thread>

#include "http/test_server.h"

namespace pagoda::http {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// A server with one request under way and a counter on its disconnect.
class Disconnect : public testing::Test {
 protected:
  void begin(std::string_view request = "GET /wait HTTP/1.1\r\nHost: t\r\n\r\n") {
    port_ = test_.start();
    client_ = std::make_unique<RawClient>(port_);
    client_->send(request);
    exchange_ = test_.mailbox.take();
    ASSERT_TRUE(exchange_);
    exchange_->on_disconnect([this] { gone_.add(); });
  }
  // The callback came soon, once, and the server goes on.
  void expect_gone(std::chrono::steady_clock::time_point left) {
    EXPECT_TRUE(gone_.reaches(1));
    EXPECT_LT(milliseconds_since(left), 500);
    EXPECT_EQ(test_.record(0).status, 499);
    EXPECT_EQ(test_.server->open_exchanges(), 0);
    exchange_->respond(text("dropped"));
    exchange_->send("dropped");
    exchange_->end();
    EXPECT_EQ(RawClient(port_).ask(get("/hello")).body, "hello");
    EXPECT_EQ(test_.record(1).status, 200);
    EXPECT_EQ(gone_.value(), 1);
  }

  TestServer test_;
  int port_ = 0;
  std::unique_ptr<RawClient> client_;
  std::shared_ptr<Exchange> exchange_;
  Counter gone_;
};

TEST_F(Disconnect, CloseWhileAHandlerWorks) {
  begin();
  const auto left = std::chrono::steady_clock::now();
  client_->close();
  expect_gone(left);
}

TEST_F(Disconnect, ResetWhileAHandlerWorks) {
  begin();
  const auto left = std::chrono::steady_clock::now();
  client_->reset();
  expect_gone(left);
}

TEST_F(Disconnect, HalfCloseCountsAsGone) {
  begin();
  const auto left = std::chrono::steady_clock::now();
  client_->half_close();
  expect_gone(left);
  EXPECT_TRUE(client_->closed_by_server());
}

TEST_F(Disconnect, CloseBehindAPipelinedRequest) {
  begin();
  client_->send(get("/hello"));
  const auto left = std::chrono::steady_clock::now();
  client_->close();
  expect_gone(left);
}

TEST_F(Disconnect, CloseWhileStreaming) {
  begin();
  exchange_->begin_stream({});
  exchange_->send("data");
  client_->read_some();
  const auto left = std::chrono::steady_clock::now();
  client_->close();
  expect_gone(left);
}

TEST_F(Disconnect, ResetWhileStreaming) {
  begin();
  exchange_->begin_stream({});
  exchange_->send("data");
  client_->read_some();
  const auto left = std::chrono::steady_clock::now();
  client_->reset();
  expect_gone(left);
}

TEST_F(Disconnect, CallbackThatComesTooLateRunsAtOnce) {
  begin();
  client_->close();
  ASSERT_TRUE(gone_.reaches(1));
  bool called = false;
  exchange_->on_disconnect([&] { called = true; });
  EXPECT_TRUE(called);
}

TEST_F(Disconnect, NeverAfterTheAnswerEnded) {
  begin();
  exchange_->respond(text("all"));
  EXPECT_EQ(client_->read_answer().body, "all");
  client_->close();
  EXPECT_FALSE(gone_.reaches(1, milliseconds(50)));
  EXPECT_EQ(test_.record(0).status, 200);
}

// As clients of event streams do: they close on the last event and do not read the chunk that ends the body.
TEST_F(Disconnect, ClosingOnTheLastChunkIsNotTooEarly) {
  begin();
  exchange_->begin_stream({});
  exchange_->send("data: 1\n\n");
  exchange_->end("data: [DONE]\n\n");
  std::string seen;
  for (std::string piece; seen.find("[DONE]") == std::string::npos; seen += piece)
    ASSERT_FALSE((piece = client_->read_some()).empty()) << seen;
  EXPECT_TRUE(seen.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n")) << seen;
  client_->reset();
  EXPECT_FALSE(gone_.reaches(1, milliseconds(50)));
  EXPECT_EQ(test_.record(0).status, 200);
}

TEST_F(Disconnect, ACallbackThatThrowsDoesNoHarm) {
  begin();
  exchange_->on_disconnect([] { throw std::runtime_error("in a callback"); });
  const auto left = std::chrono::steady_clock::now();
  client_->close();
  expect_gone(left);
}

TEST_F(Disconnect, ReadingTooSlowlyCountsAsGone) {
  test_.options.max_backlog_bytes = 1 << 20;
  begin();
  client_->set_receive_buffer(4096);
  exchange_->begin_stream({});
  const std::string chunk(100 << 10, 'x');
  int sent = 0;
  for (; sent < 1000 && gone_.value() == 0; ++sent) {
    exchange_->send(chunk);
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(gone_.reaches(1));
  EXPECT_LT(sent, 1000);
  EXPECT_EQ(test_.record(0).status, 499);
}

TEST_F(Disconnect, OneLargeChunkIsNoBacklog) {
  test_.options.max_backlog_bytes = 1000;
  begin();
  exchange_->begin_stream({});
  exchange_->send(std::string(1 << 20, 'x'));
  exchange_->end();
  EXPECT_EQ(client_->read_answer().body.size(), size_t{1} << 20);
}

TEST_F(Disconnect, TakingNothingForTooLongCountsAsGone) {
  test_.options.write_timeout_s = 0.1;
  begin();
  exchange_->respond(text(std::string(64 << 20, 'x')));
  EXPECT_EQ(test_.record(0).status, 499);
  EXPECT_EQ(RawClient(port_).ask(get("/hello")).body, "hello");
}

// Streams from other threads, clients that leave at random: every exchange ends exactly once.
TEST(DisconnectStress, NothingIsLostOrCountedTwice) {
  constexpr int kClients = 6, kRequests = 40;
  TestServer test;
  test.options.io_threads = 3;
  std::atomic<int> begun{0}, callbacks{0}, finished{0};
  std::mutex threads_mutex;
  std::vector<std::thread> threads;
  test.router.add("GET", "/stream", [&](std::shared_ptr<Exchange> exchange) {
    ++begun;
    const std::lock_guard lock(threads_mutex);
    threads.emplace_back([&, exchange = std::move(exchange)] {
      const auto gone = std::make_shared<std::atomic<bool>>(false);
      exchange->on_disconnect([&callbacks, gone] {
        ++callbacks;
        *gone = true;
      });
      exchange->begin_stream({});
      for (int i = 0; i < 50 && !*gone; ++i) exchange->send("data: token\n\n");
      exchange->end();
      ++finished;
    });
  });
  const int port = test.start();
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([port, c] {
      std::mt19937 random(static_cast<unsigned>(c));
      for (int i = 0; i < kRequests; ++i) {
        RawClient client(port);
        client.send(get("/stream"));
        switch (random() % 4) {
          case 0:
            break;
          case 1:
            client.read_some();
            break;
          case 2:
            client.reset();
            break;
          default: {
            const auto answer = client.read_answer();
            EXPECT_EQ(answer.body.size(), 50 * std::string_view("data: token\n\n").size());
          }
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while ((test.server->open_exchanges() > 0 || finished < begun) && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(test.server->open_exchanges(), 0);
  test.server.reset();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(test.record_count(), static_cast<size_t>(begun));
  EXPECT_LE(callbacks, begun);
}

}  // namespace
}  // namespace pagoda::http
