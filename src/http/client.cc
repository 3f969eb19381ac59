#include "http/client.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/format.h"
#include "http/client_socket.h"
#include "http/response_parser.h"

namespace pagoda::http {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;

// A line break in a name or value would end the field and start whatever its author likes.
bool is_one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos;
}

bool set_by_client(std::string_view name) {
  return same_field_name(name, "Host") || same_field_name(name, "Connection") ||
         same_field_name(name, "Content-Length") || same_field_name(name, "Transfer-Encoding");
}

Result<std::string> serialise(const ClientRequest& request) {
  std::string head = format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", request.method,
                            request.url.path, request.url.authority());
  for (const auto& [name, value] : request.headers.fields) {
    if (set_by_client(name)) continue;
    if (!is_one_line(name) || !is_one_line(value))
      return fail(ErrorCode::kInvalidArgument, format("the header {} holds a line break", name), name);
    head += format("{}: {}\r\n", name, value);
  }
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT")
    head += format("Content-Length: {}\r\n", request.body.size());
  return head + "\r\n";
}

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)), cancel_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Client::~Client() {
  if (cancel_event_ >= 0) ::close(cancel_event_);
}

void Client::cancel() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(cancel_event_, &one, sizeof one);
}

Result<Response> Client::stream(const ClientRequest& request, const BodyCallback& on_body) {
  uint64_t earlier;
  [[maybe_unused]] const ssize_t forgotten = ::read(cancel_event_, &earlier, sizeof earlier);
  PAGODA_ASSIGN(const std::string head, serialise(request));
  PAGODA_ASSIGN(const auto socket, ClientSocket::connect(request.url, options_, cancel_event_));
  Status sent = socket->write_all(head);
  if (sent) sent = socket->write_all(request.body);
  // A server that refuses a body answers and stops reading: its answer says more than the failed write.
  if (!sent && !socket->peer_closed()) return Unexpected(std::move(sent).error());

  ResponseParser parser(request.method == "HEAD", on_body);
  std::string input(kReadBytes, '\0');
  size_t kept = 0;  // bytes at the start of `input` that the parser wants again, with more behind them
  while (!parser.complete() && !parser.stopped()) {
    if (kept == input.size()) input.resize(input.size() * 2);
    auto got = socket->read_some(input.data() + kept, input.size() - kept);
    if (!got) return Unexpected(std::move(sent ? got.error() : sent.error()));
    if (*got == 0) {
      auto finished = parser.finish();
      if (!finished) return Unexpected(std::move(sent ? finished.error() : sent.error()));
      break;
    }
    const std::string_view bytes(input.data(), kept + *got);
    PAGODA_ASSIGN(const size_t used, parser.feed(bytes));
    kept = bytes.size() - used;
    input.erase(0, used);
    input.resize(std::max(kReadBytes, kept));
  }
  return parser.take_head();
}

Result<Response> Client::fetch(const ClientRequest& request) {
  std::string body;
  bool too_large = false;
  auto response = stream(request, [&](const Response&, std::string_view bytes) {
    too_large = static_cast<int64_t>(body.size() + bytes.size()) > options_.max_body_bytes;
    if (!too_large) body += bytes;
    return !too_large;
  });
  if (!response) return response;
  if (too_large) {
    return fail(ErrorCode::kTooLarge, format("the answer of {} is larger than {} bytes", request.url.text(),
                                             options_.max_body_bytes));
  }
  response->body = std::move(body);
  return response;
}

}  // namespace pagoda::http
