// A stranger's bytes as a server reads them: request parser, target, router, and the framing of an answer.
// The bytes are read twice, at once and in pieces, and must mean the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "http/answer_framer.h"
#include "http/request_parser.h"
#include "http/router.h"

namespace {

using namespace pagoda::http;

constexpr int64_t kMaxBodyBytes = 4096;

struct Outcome {
  int fault = 0;
  bool complete = false;
  std::string method, path, query, body, raw_path;
  std::vector<std::pair<std::string, std::string>> headers;
  size_t used = 0;
  bool operator==(const Outcome&) const = default;
};

// Gives the parser `step` more bytes at a time, as a connection does.
Outcome read(std::string_view bytes, size_t step) {
  RequestParser parser(kMaxBodyBytes);
  std::string input;
  Outcome outcome;
  for (size_t at = 0; at < bytes.size() && !parser.fault() && !parser.complete(); at += step) {
    input += bytes.substr(at, step);
    const size_t used = parser.feed(input);
    if (used > input.size()) std::abort();
    input.erase(0, used);
    outcome.used += used;
    if (input.size() > kMaxHeaderBytes + step && !parser.fault() && !parser.complete()) std::abort();
  }
  outcome.complete = parser.complete();
  if (parser.fault()) outcome.fault = parser.fault()->status;
  if (!outcome.complete) return outcome;
  outcome.raw_path = parser.raw_path();
  Request request = parser.take();
  if (static_cast<int64_t>(request.body.size()) > kMaxBodyBytes) std::abort();
  outcome.method = std::move(request.method);
  outcome.path = std::move(request.path);
  outcome.query = std::move(request.query);
  outcome.body = std::move(request.body);
  outcome.headers = std::move(request.headers.fields);
  return outcome;
}

const Router& router() {
  static const Router made = [] {
    Router router;
    for (const char* path : {"/", "/health", "/v1/models/{model...}", "/v2/models/{model}",
                             "/v2/models/stats", "/v2/models/{model}/versions/{version}/infer"}) {
      router.add("GET", path, [](std::shared_ptr<Exchange>) {});
      router.add("POST", path, [](std::shared_ptr<Exchange>) {});
    }
    return router;
  }();
  return made;
}

// Whatever a header of the request holds, echoing it must not end the head early.
void echo(const Outcome& outcome) {
  AnswerQueue::Part part;
  part.head.emplace();
  part.head->headers.set("X-Echo", outcome.path + outcome.query);
  for (const auto& [name, value] : outcome.headers) part.head->headers.set("X-Header", value);
  part.head->body = outcome.body;
  part.ended = true;
  AnswerFramer framer({});
  const auto bytes = framer.frame(std::move(part));
  if (bytes.head.find("\r\n\r\n") + 4 != bytes.head.size() || bytes.body != outcome.body) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = read(bytes, std::max<size_t>(size, 1));
  const Outcome pieces = read(bytes, 1 + size % 7);
  if (whole.complete && !(whole == pieces)) std::abort();
  const Router::Match match = router().find(whole.method, whole.raw_path);
  if (match.handler && match.pattern.empty()) std::abort();
  router().find("GET", bytes);
  if (whole.complete) echo(whole);
  return 0;
}
