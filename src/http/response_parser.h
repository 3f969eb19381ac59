// Bytes from a server → the head of its answer and the body's pieces. Beast reads the syntax.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace pagoda::http {

class ResponseParser {
 public:
  // `on_body` returns false to hear no more. `to_head`: the answer to HEAD has no body.
  using OnBody = std::function<bool(const Response& head, std::string_view bytes)>;
  ResponseParser(bool to_head, OnBody on_body);
  ~ResponseParser();

  // Returns how many bytes were used up; the rest is to be given again with more behind it. Interim answers
  // (100) are passed over. kCorruptData: not HTTP.
  Result<size_t> feed(std::string_view bytes);
  // The connection has ended. kUnavailable: the answer has not.
  Status finish();

  bool complete() const;
  bool stopped() const { return stopped_; }  // by on_body
  Response take_head() { return std::move(head_); }

 private:
  class Syntax;
  friend class Syntax;

  const bool to_head_;
  const OnBody on_body_;
  Response head_;
  bool stopped_ = false;
  std::unique_ptr<Syntax> syntax_;
};

}  // namespace pagoda::http
