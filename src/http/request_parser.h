// Bytes of a connection → Requests. Beast reads the syntax; the limits and what HTTP demands beyond it are
// here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace pagoda::http {

inline constexpr size_t kMaxHeaderBytes = size_t{64} << 10;  // of one request's head, or of its trailers

// Why a request cannot be answered by a handler. The connection closes after the answer: where the next
// request begins is not known.
struct RequestFault {
  int status = 400;  // 400, 413, 417, 431 or 501
  std::string message;
};

class RequestParser {
 public:
  explicit RequestParser(int64_t max_body_bytes);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Returns how many bytes were used up. Bytes that are left, while the request is neither complete nor at
  // fault, are to be given again with more behind them.
  size_t feed(std::string_view bytes);

  bool started() const { return started_; }  // saw more than empty lines
  bool header_complete() const { return header_complete_; }
  bool complete() const;
  const std::optional<RequestFault>& fault() const { return fault_; }

  // From the end of the headers on.
  bool expects_continue() const { return expects_continue_; }
  bool keep_alive() const;
  bool http_1_0() const { return http_1_0_; }
  const std::string& raw_path() const { return raw_path_; }

  // What was read: whole once complete() and, for the log, as far as it came after a fault.
  Request take() { return std::move(request_); }

 private:
  class Syntax;
  friend class Syntax;

  void take_field(std::string_view name, std::string_view value);
  void check_header();
  void refuse(int status, std::string message);

  const int64_t max_body_bytes_;
  Request request_;
  std::string raw_path_;
  size_t header_bytes_ = 0;
  int host_fields_ = 0;
  bool started_ = false, header_complete_ = false, expects_continue_ = false, http_1_0_ = false;
  std::optional<RequestFault> fault_;
  std::unique_ptr<Syntax> syntax_;
};

}  // namespace pagoda::http
