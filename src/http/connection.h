// One client: reads requests one at a time, lets the handler answer, writes, and begins again.
//
// Everything here runs on the connection's strand, except where it says "any thread". While a handler works,
// a read stays under way: it keeps the bytes of a pipelined next request and notices at once that the client
// has gone. A client that shuts down only its sending side counts as gone as well (as it does for uvicorn):
// from here the two look alike, and who has gone should cost nothing more.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "http/answer_framer.h"
#include "http/answer_queue.h"
#include "http/deadline.h"
#include "http/request_parser.h"
#include "http/server_core.h"
#include "http/transport.h"

namespace pagoda::http {

class Connection : public AnswerReader, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerCore> core, Socket socket, std::string peer);
  ~Connection() override;

  // Any thread.
  void start();
  void start_refused();  // answers 503 without reading and closes: there are too many connections
  void drain();          // closes when idle, else after the answer under way
  void close_soon();

  bool on_strand() const override { return strand_.running_in_this_thread(); }
  void read_answer() override;
  void post_read_answer() override;

 private:
  enum class Stage {
    kIdle,       // no byte of a request yet
    kReading,    // within a request
    kAnswering,  // a handler has it, or its answer is being written
    kLingering,  // answered for the last time: what still comes is thrown away until the client closes
    kClosed,
  };

  // The request under way, from dispatch to the last byte of its answer.
  struct Exchanging {
    std::shared_ptr<AnswerQueue> queue;
    AnswerFramer framer;
    std::string_view pattern;  // of the router, or empty
    bool handled;              // by a handler: counts among open_exchanges
    bool cut_off = false;      // the handler gave up in the middle of its stream
    int64_t response_bytes = 0;
  };

  // Reading.
  void shake_hands(bool refused);
  void await_request();
  void start_reading();
  void on_read(Transport::Error error, size_t bytes);
  void on_end_of_input();
  void consume(std::string_view fresh);
  void await_body();

  // Handling.
  void dispatch_request();
  void answer_fault(const RequestFault& fault);
  void begin_exchange(Request request, std::string_view pattern, bool handled);

  // Writing.
  void write(AnswerFramer::Bytes bytes);
  void write_rest();
  void on_written(Transport::Error error, size_t bytes);
  void finish_exchange();
  void lose_client();
  void record(int status);
  void linger();
  void close();
  void on_deadline();

  const std::shared_ptr<ServerCore> core_;
  const Strand strand_;
  const std::unique_ptr<Transport> transport_;
  const std::string peer_;
  Deadline deadline_;
  Stage stage_ = Stage::kIdle;

  bool reading_ = false;
  std::array<char, 16384> read_buffer_;
  std::string input_;  // read but not used up: part of a header, or pipelined requests
  std::optional<RequestParser> parser_;
  int64_t request_bytes_ = 0;
  TimePoint request_start_, linger_end_;

  std::optional<Exchanging> exchange_;

  bool writing_ = false;
  AnswerFramer::Bytes output_;
  size_t written_ = 0;  // of output_
};

}  // namespace pagoda::http
