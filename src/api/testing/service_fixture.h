// For tests: a Service on a scripted engine, called through its router.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "api/openai/service.h"
#include "api/testing/byte_tokenizer.h"
#include "api/testing/plain_chat_template.h"
#include "api/testing/recorded_exchange.h"
#include "api/testing/scripted_engine.h"
#include "http/router.h"

namespace pagoda::api::testing {

class ServiceFixture : public ::testing::Test {
 protected:
  static ServiceOptions default_options() {
    ServiceOptions options;
    options.names = {{"smol", "alias"}, "/models/SmolLM2.gguf"};
    options.middleware.access_log = AccessLog::kOff;
    return options;
  }
  void start(ServiceOptions options = default_options(), bool ready = true) {
    service_ = std::move(*Service::create(std::move(options)));
    router_ = http::Router();
    service_->add_routes(router_);
    if (ready) service_->ready(backend());
  }
  Backend backend() {
    Backend backend;
    backend.engine = &engine_;
    backend.tokenizer = &tokenizer_;
    backend.chat_template = &chat_template_;
    backend.max_model_len = 200;
    return backend;
  }

  std::shared_ptr<RecordedExchange> send(std::shared_ptr<RecordedExchange> exchange) {
    if (!service_) start();
    const http::Router::Match match = router_.find(exchange->request().method, exchange->request().path);
    (*match.handler)(exchange);
    return exchange;
  }
  std::shared_ptr<RecordedExchange> post(std::string path, std::string body) {
    return send(make_exchange("POST", std::move(path), std::move(body)));
  }
  std::shared_ptr<RecordedExchange> chat(const std::string& fields = {}) {
    return post("/v1/chat/completions", R"({"model":"smol","messages":[{"role":"user","content":"hi"}])" +
                                            (fields.empty() ? "" : "," + fields) + "}");
  }
  std::shared_ptr<RecordedExchange> complete(const std::string& fields) {
    return post("/v1/completions", "{" + fields + "}");
  }
  // The error object of what must have failed at once.
  Json error_of(const std::shared_ptr<RecordedExchange>& exchange) {
    EXPECT_TRUE(exchange->wait());
    return exchange->json()["error"];
  }
  // Plays an answer of one choice to the i-th request.
  void answer(size_t i, std::string_view text, int choice = 0) {
    engine_.play(i, tokens_of(text, choice));
    engine_.play(i, end_token(ByteTokenizer::kEos, choice));
  }

  ByteTokenizer tokenizer_;
  PlainChatTemplate chat_template_;
  ScriptedEngine engine_;
  http::Router router_;
  std::unique_ptr<Service> service_;
};

}  // namespace pagoda::api::testing
