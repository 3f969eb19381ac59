#include "http/connection.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <exception>
#include <random>

#include "base/log.h"
#include "http/request_target.h"
#include "http/response_head.h"

namespace pagoda::http {
namespace {

// Pipelined bytes kept while a handler works. Beyond it reading pauses, and a client that goes away is
// noticed only by the next write.
constexpr size_t kMaxPipelinedBytes = size_t{64} << 10;
// How long the last answer of a connection is given to arrive: closing while the client still sends would
// reset the connection, and the reset would destroy the answer unread.
constexpr double kLingerSilenceSeconds = 5, kLingerMaxSeconds = 30;

std::string random_id() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return format("{:016x}{:016x}", random(), random());
}

// A client's id is echoed into headers and logs, so it must be short and plain.
bool is_plain_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
    return c > ' ' && c < 127 && c != '"' && c != '\\';
  });
}

}  // namespace

Connection::Connection(std::shared_ptr<ServerCore> core, Socket socket, std::string peer)
    : core_(std::move(core)),
      strand_(socket.get_executor()),
      transport_(Transport::over(std::move(socket), core_->tls ? &*core_->tls : nullptr)),
      peer_(std::move(peer)),
      deadline_(strand_) {}

Connection::~Connection() {
  core_->connections.remove(this);
}

void Connection::start() {
  boost::asio::post(strand_, [self = shared_from_this()] { self->shake_hands(false); });
}

void Connection::start_refused() {
  boost::asio::post(strand_, [self = shared_from_this()] { self->shake_hands(true); });
}

void Connection::close_soon() {
  boost::asio::post(strand_, [self = shared_from_this()] { self->close(); });
}

void Connection::drain() {
  boost::asio::post(strand_, [self = shared_from_this()] {
    if (self->stage_ == Stage::kIdle) self->close();
  });
}

void Connection::post_read_answer() {
  boost::asio::post(strand_, [self = shared_from_this()] { self->read_answer(); });
}

// ---- Reading

void Connection::shake_hands(bool refused) {
  if (stage_ == Stage::kClosed) return;
  deadline_.start([self = shared_from_this()] { self->on_deadline(); });
  deadline_.set(core_->options.header_timeout_s);
  transport_->handshake([self = shared_from_this(), refused](Transport::Error error) {
    if (self->stage_ == Stage::kClosed) return;
    if (error) {
      log::debug("{}: the TLS handshake failed: {}", self->peer_, error.message());
      return self->close();
    }
    if (!refused) return self->await_request();
    self->answer_fault({503, format("the server has reached its limit of {} connections; try again later",
                                    self->core_->options.max_connections)});
  });
}

void Connection::await_request() {
  if (core_->draining && input_.empty()) return close();
  stage_ = Stage::kIdle;
  parser_.emplace(core_->options.max_body_bytes);
  request_bytes_ = 0;
  deadline_.set(core_->options.idle_timeout_s);
  if (!input_.empty()) return consume({});
  start_reading();
}

void Connection::start_reading() {
  if (reading_) return;
  reading_ = true;
  transport_->read_some(
      read_buffer_.data(), read_buffer_.size(),
      [self = shared_from_this()](Transport::Error error, size_t bytes) { self->on_read(error, bytes); });
}

void Connection::on_read(Transport::Error error, size_t bytes) {
  reading_ = false;
  if (stage_ == Stage::kClosed) return;
  if (error) return on_end_of_input();
  const std::string_view fresh(read_buffer_.data(), bytes);
  if (stage_ == Stage::kLingering) {
    deadline_.set(std::min(kLingerSilenceSeconds, seconds_between(Clock::now(), linger_end_)));
    start_reading();
  } else if (stage_ == Stage::kAnswering) {
    input_ += fresh;
    if (input_.size() < kMaxPipelinedBytes) start_reading();
  } else {
    consume(fresh);
  }
}

void Connection::on_end_of_input() {
  if (stage_ != Stage::kAnswering) return close();
  // An answer that is whole but not yet written is still tried: only the sending side may be closed.
  if (!exchange_->queue->ended()) return lose_client();
  exchange_->framer.close_after();
}

// Gives the parser what came, behind what was left before it.
void Connection::consume(std::string_view fresh) {
  if (stage_ == Stage::kIdle) {
    stage_ = Stage::kReading;
    request_start_ = Clock::now();
    deadline_.set(core_->options.header_timeout_s);
  }
  const bool header_was_complete = parser_->header_complete();
  size_t used = 0;
  if (input_.empty()) {
    used = parser_->feed(fresh);
    input_ = fresh.substr(used);
  } else {
    input_ += fresh;
    used = parser_->feed(input_);
    input_.erase(0, used);
  }
  request_bytes_ += static_cast<int64_t>(used);
  if (parser_->fault()) return answer_fault(*parser_->fault());
  if (parser_->complete()) return dispatch_request();
  if (!header_was_complete && parser_->header_complete()) await_body();
  start_reading();
}

void Connection::await_body() {
  deadline_.set(core_->options.body_timeout_s);
  if (parser_->expects_continue() && input_.empty()) write({"HTTP/1.1 100 Continue\r\n\r\n", {}});
}

// ---- Handling

void Connection::begin_exchange(Request request, std::string_view pattern, bool handled) {
  stage_ = Stage::kAnswering;
  deadline_.clear();
  const std::string_view id = request.headers.get("X-Request-Id");
  request.id = is_plain_id(id) ? std::string(id) : random_id();
  request.peer = peer_;
  const bool is_head = request.method == "HEAD";
  auto queue =
      std::make_shared<AnswerQueue>(weak_from_this(), std::move(request), core_->options.max_backlog_bytes);
  const bool known = parser_ && parser_->complete();
  const AnswerFramer::RequestTraits traits{parser_ && parser_->http_1_0(), is_head,
                                           known && parser_->keep_alive()};
  exchange_.emplace(Exchanging{std::move(queue), AnswerFramer(traits), pattern, handled});
  if (handled) ++core_->open_exchanges;
}

void Connection::dispatch_request() {
  Request request = parser_->take();
  const std::string& root = core_->options.root_path;
  request.path = without_root(request.path, root);
  Router::Match match = core_->router.find(request.method, without_root(parser_->raw_path(), root));
  request.parameters = std::move(match.parameters);
  begin_exchange(std::move(request), match.pattern, /*handled=*/true);
  if (input_.size() < kMaxPipelinedBytes) start_reading();

  const auto queue =
      exchange_->queue;  // the answer may be written, and exchange_ gone, before route() returns
  try {
    return core_->route(std::make_shared<QueuedExchange>(queue), match);
  } catch (const std::exception& e) {
    log::error("{} {}: the handler threw: {}", queue->request().method, queue->request().path, e.what());
  } catch (...) {
    log::error("{} {}: the handler threw", queue->request().method, queue->request().path);
  }
  queue->give_up();
}

// Answers what no handler can, and closes: where the next request would begin is not known.
void Connection::answer_fault(const RequestFault& fault) {
  Request request;
  if (parser_) request = parser_->take();
  Response response = core_->error_response(fault.status, fault.message);
  begin_exchange(std::move(request), {}, /*handled=*/false);
  exchange_->queue->respond(std::move(response));
}

// ---- Writing

// Takes what the handler has queued and writes it in one go; the rest waits until that is written.
void Connection::read_answer() {
  if (!exchange_ || stage_ == Stage::kClosed) return;
  if (exchange_->queue->backlog_exceeded()) {
    log::warning("{}: reads its answer too slowly: more than {} bytes are waiting; closing", peer_,
                 core_->options.max_backlog_bytes);
    return lose_client();
  }
  if (writing_) return;
  AnswerFramer& framer = exchange_->framer;
  AnswerQueue::Part part = exchange_->queue->take();
  if (part.given_up) {
    if (framer.started() || part.head) {
      log::error("{} {}: the handler never ended its stream", exchange_->queue->request().method,
                 exchange_->queue->request().path);
      exchange_->cut_off = true;  // once what it did say is written
    } else {
      part.head = core_->error_response(500, "internal error; the server's log has more");
      part.ended = true;
    }
  }
  if (part.head) {
    if (core_->draining) framer.close_after();
    core_->decorate(exchange_->queue->request(), *part.head);
  }
  AnswerFramer::Bytes bytes = framer.frame(std::move(part));
  if (!bytes.head.empty() || !bytes.body.empty()) {
    write(std::move(bytes));
  } else if (framer.complete() || exchange_->cut_off) {
    finish_exchange();
  }
}

void Connection::write(AnswerFramer::Bytes bytes) {
  output_ = std::move(bytes);
  written_ = 0;
  writing_ = true;
  write_rest();
}

void Connection::write_rest() {
  // While a request is still being read, its own time-out holds.
  if (stage_ == Stage::kAnswering) deadline_.set(core_->options.write_timeout_s);
  const std::string_view head = output_.head, body = output_.body;
  const size_t in_head = std::min(written_, head.size());
  transport_->write_some(
      head.substr(in_head), body.substr(written_ - in_head),
      [self = shared_from_this()](Transport::Error error, size_t bytes) { self->on_written(error, bytes); });
}

void Connection::on_written(Transport::Error error, size_t bytes) {
  if (stage_ == Stage::kClosed) return;
  if (error) return lose_client();
  written_ += bytes;
  if (exchange_) exchange_->response_bytes += static_cast<int64_t>(bytes);
  if (written_ < output_.head.size() + output_.body.size()) return write_rest();
  writing_ = false;
  output_ = {};
  if (!exchange_) return;
  deadline_.clear();
  if (exchange_->framer.complete() || exchange_->cut_off) return finish_exchange();
  read_answer();
}

void Connection::finish_exchange() {
  if (exchange_->cut_off) {
    record(500);
    return close();  // without the last chunk
  }
  const bool keep_alive = exchange_->framer.keep_alive();
  record(exchange_->framer.status());
  if (keep_alive) {
    await_request();
  } else {
    linger();
  }
}

// The client went away before its answer was written.
void Connection::lose_client() {
  if (exchange_) {
    exchange_->queue->lose_client();
    record(499);
  }
  close();
}

// The end of the exchange, however it ended.
void Connection::record(int status) {
  const Exchanging ended = std::move(*exchange_);
  exchange_.reset();
  ended.queue->retire();
  if (ended.handled) --core_->open_exchanges;
  const Request& request = ended.queue->request();
  ExchangeRecord entry;
  entry.method = request.method;
  entry.path = request.path;
  entry.pattern = ended.pattern;
  entry.peer = request.peer;
  entry.request_id = request.id;
  entry.status = status;
  entry.request_bytes = request_bytes_;
  entry.response_bytes = ended.response_bytes;
  entry.seconds = request_bytes_ > 0 ? seconds_between(request_start_, Clock::now()) : 0;
  core_->record(entry);
}

// ---- The end

void Connection::linger() {
  stage_ = Stage::kLingering;
  input_.clear();
  linger_end_ = Clock::now() + std::chrono::seconds(static_cast<int>(kLingerMaxSeconds));
  deadline_.set(kLingerSilenceSeconds);
  transport_->finish_sending([self = shared_from_this()] {});
  start_reading();
}

void Connection::close() {
  if (stage_ == Stage::kClosed) return;
  if (exchange_) {
    exchange_->queue->lose_client();
    record(499);
  }
  stage_ = Stage::kClosed;
  deadline_.stop();
  transport_->close();
  core_->connections.remove(this);
}

void Connection::on_deadline() {
  if (stage_ == Stage::kReading && !writing_)
    return answer_fault({408, parser_->header_complete() ? "the request's body did not arrive in time"
                                                         : "the request's headers did not arrive in time"});
  if (stage_ == Stage::kAnswering)
    log::warning("{}: took no byte of its answer for {} s; closing", peer_, core_->options.write_timeout_s);
  close();
}

}  // namespace pagoda::http
