#include "api/openai/pooling_answer.h"

#include <chrono>
#include <cmath>
#include <mutex>

#include "api/openai/answer_head.h"
#include "api/openai/error_body.h"
#include "base/format.h"
#include "engine/pooling_engine.h"

namespace pagoda::api {
namespace {

// Shared by the sinks of one request.
class Gathering : public std::enable_shared_from_this<Gathering> {
 public:
  Gathering(std::shared_ptr<ServiceCore> core, std::shared_ptr<http::Exchange> exchange, size_t texts,
            WritePooled write)
      : core_(std::move(core)),
        exchange_(std::move(exchange)),
        write_(std::move(write)),
        vectors_(texts),
        open_(texts) {}

  void take(size_t text, Result<std::vector<float>> result) {
    {
      const std::lock_guard lock(mutex_);
      if (result) {
        vectors_[text] = std::move(*result);
      } else if (!fault_) {
        fault_ = std::move(result).error();
      }
      if (--open_ > 0) return;
    }
    // Writing thousands of numbers is no work for the engine's thread.
    const bool posted = core_->post_answer([self = shared_from_this()] { self->finish(); });
    if (!posted) exchange_->respond(error_response(503, "the server is shutting down"));
  }

 private:
  void finish() {
    if (fault_) return exchange_->respond(error_response(*fault_));
    Result<std::string> body = write_(std::move(vectors_));
    if (!body) return exchange_->respond(error_response(body.error()));
    http::Response response;
    response.body = std::move(*body);
    exchange_->respond(std::move(response));
  }

  const std::shared_ptr<ServiceCore> core_;
  const std::shared_ptr<http::Exchange> exchange_;
  const WritePooled write_;
  std::mutex mutex_;
  std::vector<std::vector<float>> vectors_;
  size_t open_;
  std::optional<Error> fault_;
};

Unexpected too_long(const ServiceCore& core, size_t tokens) {
  return fail(
      ErrorCode::kInvalidArgument,
      format(
          "This model's maximum context length is {} tokens. However, you requested {} tokens in the input. "
          "Please reduce the length of the input, or set truncate_prompt_tokens to -1.",
          core.limits().max_model_len, tokens),
      "input");
}

// How many tokens are kept; an error where truncating was not asked for.
Result<size_t> kept_length(const ServiceCore& core, size_t tokens, std::optional<int64_t> truncate) {
  const auto most = static_cast<size_t>(core.limits().max_model_len);
  if (truncate && *truncate > core.limits().max_model_len)
    return fail(
        ErrorCode::kInvalidArgument,
        format("truncate_prompt_tokens is {}, more than the {} tokens that the model takes", *truncate, most),
        "truncate_prompt_tokens");
  const size_t wanted = !truncate || *truncate < 0 ? most : static_cast<size_t>(*truncate);
  if (tokens <= wanted) return tokens;
  if (!truncate) return too_long(core, tokens);
  return wanted;
}

// Cuts at the end, but keeps the token that closes a text.
void cut(const text::Tokenizer& tokenizer, std::vector<int32_t>& tokens, size_t length) {
  if (length == 0 || tokens.size() <= length) return;
  const int32_t last = tokens.back();
  tokens.resize(length);
  if (tokenizer.is_special(last)) tokens.back() = last;
}

}  // namespace

void answer_pooled(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange,
                   std::vector<PoolingInput> inputs, WritePooled write) {
  auto gathering =
      std::make_shared<Gathering>(core.shared_from_this(), exchange, inputs.size(), std::move(write));
  std::vector<engine::PoolingRequest> requests;
  for (size_t i = 0; i < inputs.size(); ++i) {
    requests.push_back(
        {std::move(inputs[i].tokens), std::move(inputs[i].types),
         [gathering, i](Result<std::vector<float>> result) { gathering->take(i, std::move(result)); }});
  }
  if (const Status status = core.backend().pooling->submit(std::move(requests)); !status)
    exchange->respond(error_response(status.error()));
}

Status needs_vectors(const ServiceCore& core, std::string_view api) {
  if (core.backend().pooling != nullptr) return {};
  return fail(ErrorCode::kInvalidArgument, format("The model does not support {} API", api), "model");
}

Status check_length(const ServiceCore& core, size_t tokens) {
  if (tokens <= static_cast<size_t>(core.limits().max_model_len)) return {};
  return too_long(core, tokens);
}

Result<PoolingInput> tokenize_text(const ServiceCore& core, std::string_view text, bool add_special,
                                   std::optional<int64_t> truncate) {
  const text::Tokenizer& tokenizer = *core.backend().tokenizer;
  PoolingInput input;
  input.tokens = tokenizer.encode(text, {.add_special = add_special, .parse_special = true});
  if (input.tokens.empty())
    return fail(ErrorCode::kInvalidArgument, "an input without any token has no vector", "input");
  PAGODA_ASSIGN(const size_t length, kept_length(core, input.tokens.size(), truncate));
  cut(tokenizer, input.tokens, length);
  return input;
}

Result<PoolingInput> tokenize_pair(const ServiceCore& core, std::string_view first, std::string_view second,
                                   std::optional<int64_t> truncate) {
  const text::Tokenizer& tokenizer = *core.backend().tokenizer;
  text::TokenPair pair = tokenizer.encode_pair(first, second);
  PAGODA_ASSIGN(const size_t length, kept_length(core, pair.tokens.size(), truncate));
  cut(tokenizer, pair.tokens, length);
  pair.types.resize(pair.tokens.size());
  return PoolingInput{std::move(pair.tokens), std::move(pair.types)};
}

void normalise_length(std::vector<float>& vector) {
  double squares = 0;
  for (const float x : vector) squares += static_cast<double>(x) * static_cast<double>(x);
  const double length = std::sqrt(squares);
  if (length == 0) return;
  for (float& x : vector) x = static_cast<float>(static_cast<double>(x) / length);
}

std::string pooled_id(std::string_view prefix, const http::Request& request) {
  // The same rules for what a client may call its request as elsewhere.
  const AnswerHead head = make_answer_head(AnswerKind::kCompletion, request, "", "");
  return std::string(prefix) + head.id.substr(head.id.find('-') + 1);
}

int64_t now_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace pagoda::api
