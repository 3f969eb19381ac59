// For tests: a server on a free port of loopback, and a client that is nothing but a socket.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "http/server.h"

namespace pagoda::http {

class RawClient {
 public:
  explicit RawClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  explicit RawClient(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }

  // False when the server no longer takes it.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  void half_close() { ::shutdown(fd_, SHUT_WR); }
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void set_receive_buffer(int bytes) { ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); }

  struct Answer {
    int status = 0;  // 0: none came
    std::string head, body;
    bool has(std::string_view line) const {
      return head.find(std::string(line) + "\r\n") != std::string::npos;
    }
  };
  // One answer with a Content-Length, without a body, or in chunks (put together; `body` ends with "<cut>"
  // when the end is missing). `of_head`: the answer to HEAD has no body whatever its length says.
  Answer read_answer(bool of_head = false) {
    Answer answer;
    if (!read_until([this] { return input_.find("\r\n\r\n") != std::string::npos; })) return answer;
    answer.head = take(input_.find("\r\n\r\n") + 2);
    take(2);
    if (answer.head.size() > 12) answer.status = std::atoi(answer.head.c_str() + 9);
    const size_t length = answer.head.find("Content-Length: ");
    if (of_head) return answer;
    if (length != std::string::npos) {
      const size_t wanted = std::strtoul(answer.head.c_str() + length + 16, nullptr, 10);
      if (!read_until([&] { return input_.size() >= wanted; })) answer.body = "<cut>";
      answer.body = take(wanted) + answer.body;
    } else if (answer.has("Transfer-Encoding: chunked")) {
      while (read_chunk(answer.body)) {
      }
    } else if (answer.has("Connection: close") && answer.status != 204) {
      read_until([] { return false; });
      answer.body = take(input_.size());
    }
    return answer;
  }
  Answer ask(std::string_view request) {
    send(request);
    return read_answer();
  }

  // What comes until the server closes (true) or `wait` has passed.
  bool closed_by_server(std::chrono::milliseconds wait = std::chrono::seconds(3)) {
    const auto wait_before = std::exchange(wait_, wait);
    read_until([] { return false; });
    wait_ = wait_before;
    return closed_;
  }
  // Waits for more bytes and returns all that are there, unparsed.
  std::string read_some() {
    const size_t before = input_.size();
    read_until([&] { return input_.size() > before; });
    return take(input_.size());
  }
  // Throws bytes away until the server closes or nothing comes for `silence`; returns how many came.
  size_t drain(std::chrono::milliseconds silence) {
    size_t total = 0;
    wait_ = silence;
    for (std::string piece; !(piece = read_some()).empty();) total += piece.size();
    return total;
  }

 private:
  bool read_until(const std::function<bool()>& done) {
    const auto until = std::chrono::steady_clock::now() + wait_;
    while (!done()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      pollfd ready{fd_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count()) + 1) <= 0) return false;
      char buffer[65536];
      const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0) {
        closed_ = true;
        return done();
      }
      input_.append(buffer, static_cast<size_t>(got));
    }
    return true;
  }
  std::string take(size_t bytes) {
    std::string taken = input_.substr(0, bytes);
    input_.erase(0, bytes);
    return taken;
  }
  bool read_chunk(std::string& body) {
    if (!read_until([this] { return input_.find("\r\n") != std::string::npos; })) {
      body += "<cut>";
      return false;
    }
    const std::string line = take(input_.find("\r\n") + 2);
    const size_t size = std::strtoul(line.c_str(), nullptr, 16);
    if (!read_until([&] { return input_.size() >= size + 2; })) {
      body += "<cut>";
      return false;
    }
    body += take(size);
    take(2);
    return size > 0;
  }

  int fd_;
  bool connected_ = false, closed_ = false;
  std::chrono::milliseconds wait_{3000};
  std::string input_;
};

// A count that tests wait for.
class Counter {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool reaches(int wanted, std::chrono::milliseconds wait = std::chrono::seconds(3)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, wait, [&] { return count_ >= wanted; });
  }
  int value() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// Exchanges that handlers put here for the test's own thread to answer.
class Mailbox {
 public:
  Handler handler() {
    return [this](std::shared_ptr<Exchange> exchange) { put(std::move(exchange)); };
  }
  void put(std::shared_ptr<Exchange> exchange) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(exchange));
    changed_.notify_all();
  }
  // The oldest; nullptr when none comes in time.
  std::shared_ptr<Exchange> take() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(3), [&] { return !waiting_.empty(); })) return nullptr;
    auto exchange = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    return exchange;
  }
  bool empty() const {
    const std::lock_guard lock(mutex_);
    return waiting_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Exchange>> waiting_;
};

inline Response text(std::string body, int status = 200) {
  Response response;
  response.status = status;
  response.content_type = "text/plain";
  response.body = std::move(body);
  return response;
}

// GET /hello, POST /echo, GET and POST /wait (into `mailbox`), GET /throw, and what the test adds.
class TestServer {
 public:
  ServerOptions options;
  ServerHooks hooks;
  Router router;
  Mailbox mailbox;

  TestServer() {
    options.port = 0;
    options.io_threads = 2;
    router.add("GET", "/hello", [](std::shared_ptr<Exchange> exchange) { exchange->respond(text("hello")); });
    router.add("POST", "/echo",
               [](std::shared_ptr<Exchange> exchange) { exchange->respond(text(exchange->request().body)); });
    router.add("GET", "/wait", mailbox.handler());
    router.add("POST", "/wait", mailbox.handler());
    router.add("GET", "/throw", [](std::shared_ptr<Exchange>) { throw std::runtime_error("secret detail"); });
    hooks.record = [this](const ExchangeRecord& record) {
      const std::lock_guard lock(records_mutex_);
      records_.push_back(record);
      records_changed_.notify_all();
    };
  }
  ~TestServer() { server.reset(); }

  int start() {
    auto started = Server::start(options, router, hooks);
    if (!started) {
      ADD_FAILURE() << started.error().message;
      return 0;
    }
    server = std::move(*started);
    return server->port();
  }

  // The n-th record (from 0), once it is there.
  ExchangeRecord record(size_t n) {
    std::unique_lock lock(records_mutex_);
    if (!records_changed_.wait_for(lock, std::chrono::seconds(3), [&] { return records_.size() > n; })) {
      ADD_FAILURE() << "no record " << n;
      return {};
    }
    return records_[n];
  }
  size_t record_count() {
    const std::lock_guard lock(records_mutex_);
    return records_.size();
  }

  std::unique_ptr<Server> server;

 private:
  std::mutex records_mutex_;
  std::condition_variable records_changed_;
  std::vector<ExchangeRecord> records_;
};

inline std::string get(std::string_view path, std::string_view more = {}) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n" + std::string(more) + "\r\n";
}

}  // namespace pagoda::http
