#include "http/request_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/format.h"
#include "http/request_target.h"

namespace pagoda::http {

namespace beast = boost::beast;
using beast::http::error;

namespace {

// A body of unknown or claimed length gets memory as it arrives, not as it is announced.
constexpr uint64_t kMaxReservedBytes = uint64_t{1} << 20;

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

std::string header_limit_message() {
  return format("the request's headers are larger than the limit of {} bytes", kMaxHeaderBytes);
}

}  // namespace

// Beast's callbacks, written straight into the Request.
class RequestParser::Syntax : public beast::http::basic_parser<true> {
 public:
  explicit Syntax(RequestParser& owner) : owner_(owner) {
    eager(true);
    header_limit(kMaxHeaderBytes);
    body_limit(static_cast<uint64_t>(owner.max_body_bytes_));
  }

 private:
  // Any error ends the parse; which one it was stands in owner_.fault_.
  void stop_on_fault(beast::error_code& ec) const {
    if (owner_.fault_) ec = error::bad_field;
  }

  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target, int version,
                       beast::error_code& ec) override {
    owner_.request_.method = view(method);
    owner_.http_1_0_ = version == 10;
    owner_.header_bytes_ += method.size() + target.size();
    auto parsed = parse_request_target(view(target));
    if (!parsed) {
      owner_.refuse(400, parsed.error().message);
      return stop_on_fault(ec);
    }
    owner_.request_.path = std::move(parsed->path);
    owner_.request_.query = std::move(parsed->query);
    owner_.raw_path_ = std::move(parsed->raw_path);
  }
  void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}

  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                     beast::error_code& ec) override {
    owner_.take_field(view(name), view(value));
    stop_on_fault(ec);
  }
  void on_header_impl(beast::error_code& ec) override {
    owner_.header_complete_ = true;
    owner_.check_header();
    stop_on_fault(ec);
  }
  void on_body_init_impl(const boost::optional<uint64_t>& length, beast::error_code&) override {
    owner_.request_.body.reserve(std::min(length.value_or(0), kMaxReservedBytes));
  }
  size_t on_body_impl(beast::string_view bytes, beast::error_code&) override {
    owner_.request_.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(uint64_t, beast::string_view, beast::error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, beast::string_view bytes, beast::error_code&) override {
    owner_.request_.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(beast::error_code&) override {}

  RequestParser& owner_;
};

RequestParser::RequestParser(int64_t max_body_bytes)
    : max_body_bytes_(max_body_bytes), syntax_(std::make_unique<Syntax>(*this)) {}
RequestParser::~RequestParser() = default;

bool RequestParser::complete() const {
  return syntax_->is_done() && !fault_;
}

bool RequestParser::keep_alive() const {
  return syntax_->keep_alive();
}

size_t RequestParser::feed(std::string_view bytes) {
  if (fault_ || syntax_->is_done()) return 0;
  size_t used = 0;
  if (!started_) {  // empty lines before a request are to be ignored (RFC 9112, section 2.2)
    used = std::min(bytes.find_first_not_of("\r\n"), bytes.size());
    if (used == bytes.size()) return used;
    started_ = true;
  }
  beast::error_code ec;
  used += syntax_->put(boost::asio::const_buffer(bytes.data() + used, bytes.size() - used), ec);
  if (fault_ || (ec && ec != error::need_more)) {
    if (ec == error::body_limit) {
      refuse(413, format("the request body is larger than the limit of {} bytes", max_body_bytes_));
    } else if (ec == error::header_limit) {
      refuse(431, header_limit_message());
    } else if (bytes.starts_with("\x16\x03")) {
      refuse(400,
             "this looks like a TLS handshake, but the port speaks plain HTTP: use http://, not https://");
    } else {
      refuse(400, "malformed HTTP/1.1 request: " + ec.message());
    }
  } else if (!syntax_->is_done() && bytes.size() - used > kMaxHeaderBytes) {
    refuse(400, format("a chunk header or trailer is larger than the limit of {} bytes", kMaxHeaderBytes));
  }
  return used;
}

void RequestParser::take_field(std::string_view name, std::string_view value) {
  // Beast limits what it is given at once; headers that trickle in are counted here.
  header_bytes_ += name.size() + value.size() + 4;
  if (header_bytes_ > kMaxHeaderBytes) return refuse(431, header_limit_message());
  if (header_complete_) return;  // a trailer: read, never merged into the headers (RFC 9110, section 6.5.1)
  if (same_field_name(name, "Host")) ++host_fields_;
  request_.headers.fields.emplace_back(name, value);
}

void RequestParser::check_header() {
  // Codings other than chunked would make the body's end a matter of opinion.
  for (const auto& [name, value] : request_.headers.fields) {
    if (same_field_name(name, "Transfer-Encoding") && !same_field_name(value, "chunked"))
      return refuse(501,
                    format("Transfer-Encoding: {} is not supported; send chunked or Content-Length", value));
  }
  if (http_1_0_) return;  // knows neither Expect nor Host
  if (host_fields_ != 1) return refuse(400, "an HTTP/1.1 request must have exactly one Host header");
  const std::string_view expect = request_.headers.get("Expect");
  if (expect.empty()) return;
  if (!same_field_name(expect, "100-continue"))
    return refuse(417, format("Expect: {} is not supported; only 100-continue is", expect));
  expects_continue_ = true;
}

void RequestParser::refuse(int status, std::string message) {
  if (!fault_) fault_ = RequestFault{status, std::move(message)};
}

}  // namespace pagoda::http
