#include "api/openai/service_core.h"

#include <algorithm>
#include <chrono>

#include "api/openai/content_format_probe.h"
#include "api/openai/error_body.h"
#include "base/format.h"

namespace pagoda::api {
namespace {

// Requests are read one after another: what waits for that must not fill the memory.
constexpr int64_t kMaxWaitingBodyBytes = int64_t{256} << 20;

std::string quoted_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  return list;
}

size_t longest_piece_of(const text::Tokenizer& tokenizer) {
  size_t longest = 1;
  for (int32_t token = 0; token < tokenizer.size(); ++token) {
    longest = std::max(longest, tokenizer.piece(token).size());
  }
  return longest;
}

// "application/json", whatever its parameters and case.
bool is_json(std::string_view content_type) {
  std::string media_type(content_type.substr(0, content_type.find(';')));
  while (!media_type.empty() && media_type.back() == ' ') media_type.pop_back();
  std::transform(media_type.begin(), media_type.end(), media_type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return media_type == "application/json";
}

}  // namespace

ServiceCore::ServiceCore(ServiceOptions options, Json default_template_kwargs)
    : options_(std::move(options)),
      default_template_kwargs_(std::move(default_template_kwargs)),
      created_(std::chrono::duration_cast<std::chrono::seconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count()),
      intake_(std::make_shared<WorkerPool>(options_.intake_threads)),
      answers_(std::make_shared<WorkerPool>(options_.answer_threads)) {}

void ServiceCore::ready(Backend backend) {
  backend_ = std::move(backend);
  limits_.tokenizer = backend_.tokenizer;
  limits_.model_name = model_name();
  limits_.max_model_len = backend_.max_model_len;
  limits_.max_logprobs = options_.max_logprobs;
  limits_.max_choices = options_.max_choices;
  limits_.max_prompts = options_.max_prompts;
  limits_.priority_scheduling = options_.priority_scheduling;
  limits_.trust_request_chat_template = options_.trust_request_chat_template;
  limits_.return_tokens_as_token_ids = options_.return_tokens_as_token_ids;
  limits_.force_include_usage = options_.force_include_usage;
  limits_.default_sampling = backend_.default_sampling;
  limits_.max_new_tokens = backend_.max_new_tokens;
  form_.model_name = model_name();
  form_.content_as_parts = options_.content_format == ContentFormat::kOpenai ||
                           (options_.content_format == ContentFormat::kAuto && backend_.chat_template &&
                            wants_content_parts(*backend_.chat_template));
  const std::string& source = backend_.chat_template_source;
  form_.developer_is_system = !source.empty() && source.find("developer") == std::string::npos;
  longest_piece_ = longest_piece_of(*backend_.tokenizer);
  state_ = ServiceState::kReady;
}

void ServiceCore::begin_drain() {
  // While loading there is nothing to drain, and no backend to tell about.
  ServiceState ready = ServiceState::kReady;
  state_.compare_exchange_strong(ready, ServiceState::kDraining);
}

void ServiceCore::stop() {
  intake_->stop();
  answers_->stop();
}

Status ServiceCore::availability() const {
  switch (state_.load()) {
    case ServiceState::kLoading:
      return fail(ErrorCode::kUnavailable, format("the model {} is still loading", model_name()));
    case ServiceState::kDraining:
      return fail(ErrorCode::kUnavailable, "the server is shutting down and takes no new requests");
    case ServiceState::kReady:
      break;
  }
  if (backend_.engine != nullptr && !backend_.engine->alive()) {
    return fail(ErrorCode::kUnavailable, "the engine has stopped; the server's log tells why");
  }
  return {};
}

Status ServiceCore::needs_generation(std::string_view api) const {
  if (backend_.engine != nullptr) return {};
  return fail(ErrorCode::kInvalidArgument, format("The model does not support {} API", api), "model");
}

Status ServiceCore::check_model(std::string_view name) const {
  if (options_.names.matches(name)) return {};
  return fail(ErrorCode::kNotFound,
              format("the model \"{}\" does not exist; this server has {}", name.substr(0, 200),
                     quoted_list(options_.names.served)),
              "model");
}

void ServiceCore::take_in(Work work, const std::shared_ptr<http::Exchange>& exchange) {
  if (const Status status = availability(); !status) return exchange->respond(error_response(status.error()));
  if (!is_json(exchange->request().headers.get("Content-Type"))) {
    return exchange->respond(error_response(
        400, "unsupported media type: the Content-Type must be application/json", "Content-Type"));
  }
  const auto bytes = static_cast<int64_t>(exchange->request().body.size());
  if (waiting_body_bytes_.fetch_add(bytes) + bytes > kMaxWaitingBodyBytes) {
    waiting_body_bytes_ -= bytes;
    return exchange->respond(error_response(503, "too many large requests wait to be read; try again later"));
  }
  const bool posted = intake_->post([self = shared_from_this(), work, exchange, bytes] {
    work(*self, exchange);
    self->waiting_body_bytes_ -= bytes;
  });
  if (!posted) exchange->respond(error_response(503, "the server is shutting down"));
}

AnswerSurroundings ServiceCore::surroundings() const {
  return {backend_.engine, backend_.tokenizer, answers_, in_flight_};
}

}  // namespace pagoda::api
