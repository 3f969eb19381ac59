// The OpenAI-compatible API as one object: the http floor gets its routes and hooks, app/ tells it when the
// model is ready. Wire ↔ domain only: the engine decides, the text floor tokenizes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/metrics/cache_config.h"
#include "api/openai/middleware.h"
#include "api/openai/model_names.h"
#include "base/result.h"
#include "engine/engine.h"
#include "engine/pooling_engine.h"
#include "http/router.h"
#include "http/server.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace pagoda::api {

// How message content reaches the chat template (--chat-template-content-format).
enum class ContentFormat {
  kAuto,    // by trying the template once: a string, unless it wants a list of parts
  kString,  // text parts are joined by newlines
  kOpenai,  // always a list of parts
};

// Set once by app/, from flags. The defaults are those of the flags.
struct ServiceOptions {
  ModelNames names;
  std::string version = "0.1.0";
  MiddlewareOptions middleware;
  std::string response_role = "assistant";
  std::string default_chat_template_kwargs;  // a JSON object, or empty
  ContentFormat content_format = ContentFormat::kAuto;
  bool trust_request_chat_template = false;
  bool return_tokens_as_token_ids = false;
  bool prompt_tokens_details = false;  // usage.prompt_tokens_details.cached_tokens
  bool force_include_usage = false;
  bool priority_scheduling = false;  // else a priority other than 0 is refused, as vLLM does
  int max_logprobs = 20;             // -1: as many as the vocabulary has
  int max_choices = 128;             // the most that n may ask for
  int max_prompts = 1024;            // the most prompts in one completion request
  int intake_threads = 2;            // parse, render, tokenize
  int answer_threads = 1;            // detokenize, build JSON, send
};

// What serves, once it is loaded: either an engine that generates, or one that reads texts. All of it
// outlives the Service; the tokenizer and the template outlive the engine as well.
struct Backend {
  engine::Engine* engine = nullptr;          // nullptr: the model does not generate
  engine::PoolingEngine* pooling = nullptr;  // nullptr: the model gives no vectors
  const text::Tokenizer* tokenizer = nullptr;
  const text::ChatTemplate* chat_template = nullptr;  // nullptr: /v1/chat/completions says so with 400
  std::string chat_template_source;                   // to tell whether it knows the role "developer"
  int max_model_len = 0;                              // prompt + answer, tokens
  engine::SamplingParams default_sampling;            // where a request is silent (generation config)
  std::optional<int> max_new_tokens;                  // no answer is longer, whatever is asked for
  metrics::CacheConfig cache_config;                  // for vllm:cache_config_info
};

class ServiceCore;

// Thread rules: add_routes() and hooks() before the server starts; the rest from any thread. Destroy in the
// order server, Service, engine: sinks that the engine still calls afterwards are harmless.
class Service {
 public:
  // Fails naming the option: no served name, default_chat_template_kwargs that are no JSON object.
  static Result<std::unique_ptr<Service>> create(ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void add_routes(http::Router& router);
  http::ServerHooks hooks();

  // Until then every model endpoint and /health answer 503. Call once, after a first token has been produced.
  void ready(Backend backend);
  // New requests get 503 from now on, /health too; those in flight go on.
  void begin_drain();
  // Requests that generate at this moment (/load).
  int in_flight() const;

 private:
  explicit Service(std::shared_ptr<ServiceCore> core);
  std::shared_ptr<ServiceCore> core_;
};

}  // namespace pagoda::api
