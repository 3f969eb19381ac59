#include "http/response_parser.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/format.h"

namespace pagoda::http {

namespace beast = boost::beast;
using beast::http::error;

namespace {

constexpr uint32_t kMaxHeadBytes = 256 << 10;

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

class ResponseParser::Syntax : public beast::http::basic_parser<false> {
 public:
  explicit Syntax(ResponseParser& owner) : owner_(owner) {
    eager(true);
    header_limit(kMaxHeadBytes);
    body_limit(boost::none);
    if (owner.to_head_) skip(true);
  }

 private:
  void on_request_impl(beast::http::verb, beast::string_view, beast::string_view, int,
                       beast::error_code&) override {}
  void on_response_impl(int code, beast::string_view, int, beast::error_code&) override {
    owner_.head_ = {};
    owner_.head_.status = code;
    owner_.head_.content_type.clear();
  }
  void on_field_impl(beast::http::field name, beast::string_view name_text, beast::string_view value,
                     beast::error_code& ec) override {
    header_bytes_ += name_text.size() + value.size();
    if (header_bytes_ > kMaxHeadBytes) ec = error::header_limit;
    if (is_header_done()) return;  // a trailer
    if (name == beast::http::field::content_type) owner_.head_.content_type = view(value);
    owner_.head_.headers.fields.emplace_back(view(name_text), view(value));
  }
  void on_header_impl(beast::error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, beast::error_code&) override {}
  size_t on_body_impl(beast::string_view bytes, beast::error_code& ec) override { return pass_on(bytes, ec); }
  void on_chunk_header_impl(uint64_t, beast::string_view, beast::error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, beast::string_view bytes, beast::error_code& ec) override {
    return pass_on(bytes, ec);
  }
  void on_finish_impl(beast::error_code&) override {}

  size_t pass_on(beast::string_view bytes, beast::error_code& ec) {
    if (!bytes.empty() && !owner_.on_body_(owner_.head_, view(bytes))) {
      owner_.stopped_ = true;
      ec = error::end_of_stream;
    }
    return bytes.size();
  }

  ResponseParser& owner_;
  size_t header_bytes_ = 0;
};

ResponseParser::ResponseParser(bool to_head, OnBody on_body)
    : to_head_(to_head), on_body_(std::move(on_body)), syntax_(std::make_unique<Syntax>(*this)) {}
ResponseParser::~ResponseParser() = default;

bool ResponseParser::complete() const {
  return syntax_->is_done();
}

Result<size_t> ResponseParser::feed(std::string_view bytes) {
  size_t used = 0;
  while (used < bytes.size() && !stopped_) {
    if (syntax_->is_done()) {
      if (head_.status / 100 != 1) break;
      syntax_ = std::make_unique<Syntax>(*this);  // an interim answer: the real one follows
    }
    beast::error_code ec;
    used += syntax_->put(boost::asio::const_buffer(bytes.data() + used, bytes.size() - used), ec);
    if (stopped_ || ec == error::need_more) break;
    if (ec)
      return fail(ErrorCode::kCorruptData, format("the server's answer is not HTTP/1.1: {}", ec.message()));
  }
  if (syntax_->is_done() && head_.status / 100 == 1) syntax_ = std::make_unique<Syntax>(*this);
  if (!stopped_ && !complete() && bytes.size() - used > kMaxHeadBytes)
    return fail(ErrorCode::kCorruptData, "the server's answer has a header or chunk line without end");
  return used;
}

Status ResponseParser::finish() {
  if (stopped_ || complete()) return {};
  beast::error_code ec;
  if (syntax_->got_some()) syntax_->put_eof(ec);
  if (!syntax_->got_some() || ec) {
    return fail(ErrorCode::kUnavailable, "the server closed the connection before its answer was whole");
  }
  return {};
}

}  // namespace pagoda::http
