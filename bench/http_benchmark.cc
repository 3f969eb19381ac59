// What the HTTP server costs: requests per second of a trivial handler, and the price of one streamed chunk.
//   http_benchmark [SECONDS]     (3 by default; each part is bounded by it)
// The clients are a process of their own, so that the server's CPU time can be told apart. Everything is on
// loopback.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "http/server.h"

namespace {

using namespace pagoda;

constexpr int kConnections = 32, kStreams = 64;
constexpr std::string_view kRequest = "GET /hello HTTP/1.1\r\nHost: benchmark\r\n\r\n";
constexpr std::string_view kStreamRequest = "GET /stream HTTP/1.1\r\nHost: benchmark\r\n\r\n";

double server_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::_Exit(1);
  return fd;
}

// Connections that ask, read whatever comes, and ask again (`ask_again`) or only read on, until the parent
// ends us.
[[noreturn]] void run_clients(int port, int connections, std::string_view request, bool ask_again) {
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < connections; ++i) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = connect_to(port);
    ::epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
    if (::send(event.data.fd, request.data(), request.size(), MSG_NOSIGNAL) <= 0) std::_Exit(1);
  }
  std::vector<epoll_event> events(64);
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const int ready = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < ready; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      // The trivial answer is far smaller than one segment, so one read is one answer.
      if (::recv(fd, buffer.data(), buffer.size(), 0) <= 0) std::_Exit(0);
      if (ask_again && ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) <= 0) std::_Exit(0);
    }
  }
}

pid_t fork_clients(int port, int connections, std::string_view request, bool ask_again) {
  const pid_t child = ::fork();
  if (child == 0) run_clients(port, connections, request, ask_again);
  return child;
}

void end_clients(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

struct Streams {
  std::mutex mutex;
  std::vector<std::shared_ptr<http::Exchange>> open;
  size_t count() {
    const std::lock_guard lock(mutex);
    return open.size();
  }
};

void measure_requests(int port, double seconds, std::atomic<int64_t>& answered) {
  const pid_t child = fork_clients(port, kConnections, kRequest, /*ask_again=*/true);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const int64_t before = answered;
  const double cpu_before = server_cpu_seconds();
  const Stopwatch watch;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const double count = static_cast<double>(answered - before);
  const double elapsed = watch.seconds(), cpu = server_cpu_seconds() - cpu_before;
  end_clients(child);
  fmt::print("requests: {:.0f}/s over {} kept connections, {:.2f} us of server CPU each\n", count / elapsed,
             kConnections, cpu / count * 1e6);
}

// As an engine does it: each step sends one event to every stream, then computes for a while.
void measure_streams(int port, double seconds, std::chrono::microseconds step, Streams& streams) {
  const pid_t child = fork_clients(port, kStreams, kStreamRequest, /*ask_again=*/false);
  while (streams.count() < kStreams) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::string event = "data: " + std::string(220, 'x') + "\n\n";
  int64_t sent = 0;
  double in_send = 0;
  const double cpu_before = server_cpu_seconds();
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
    const Stopwatch sending;
    for (const auto& stream : streams.open) stream->send(event);
    in_send += sending.seconds();
    sent += kStreams;
    std::this_thread::sleep_for(step);
  }
  const double elapsed = watch.seconds(), cpu = server_cpu_seconds() - cpu_before;
  fmt::print(
      "streams: {} at once, a step every {} us: {:.0f} chunks/s, send() {:.2f} us, {:.2f} us of server CPU "
      "per chunk\n",
      kStreams, step.count(), static_cast<double>(sent) / elapsed, in_send / static_cast<double>(sent) * 1e6,
      cpu / static_cast<double>(sent) * 1e6);
  const std::lock_guard lock(streams.mutex);
  for (const auto& stream : streams.open) stream->end();
  streams.open.clear();
  end_clients(child);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::clamp(std::atof(argv[1]), 0.5, 60.0) : 3;
  std::atomic<int64_t> answered{0};
  Streams streams;
  http::Router router;
  router.add("GET", "/hello", [&](std::shared_ptr<http::Exchange> exchange) {
    http::Response response;
    response.body = "{\"hello\":\"world\"}";
    exchange->respond(std::move(response));
    answered.fetch_add(1, std::memory_order_relaxed);
  });
  router.add("GET", "/stream", [&](std::shared_ptr<http::Exchange> exchange) {
    http::Response head;
    head.content_type = "text/event-stream";
    exchange->begin_stream(head);
    const std::lock_guard lock(streams.mutex);
    streams.open.push_back(std::move(exchange));
  });
  http::ServerOptions options;
  options.port = 0;
  auto server = http::Server::start(options, std::move(router), {});
  if (!server) {
    fmt::print(stderr, "{}\n", server.error().message);
    return 1;
  }
  const int port = (*server)->port();
  measure_requests(port, seconds, answered);
  for (const int step_us : {10000, 2000, 200})
    measure_streams(port, seconds, std::chrono::microseconds(step_us), streams);
  return 0;
}
