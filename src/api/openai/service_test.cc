#include "api/openai/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/service_fixture.h"

namespace pagoda::api {
namespace {

using engine::FinishReason;
using ::testing::ElementsAre;
using testing::finish_of;
using ::testing::HasSubstr;
using testing::make_exchange;
using testing::tokens_of;

class ServiceTest : public testing::ServiceFixture {};

TEST_F(ServiceTest, IsUnavailableUntilReadyAndWhenDraining) {
  start(default_options(), false);
  for (const char* path : {"/health", "/ping", "/v1/models"}) {
    const auto exchange = send(make_exchange("GET", path));
    EXPECT_EQ(exchange->status(), 503) << path;
    EXPECT_EQ(exchange->response().headers.get("Retry-After"), "1");
  }
  EXPECT_THAT(error_of(chat())["message"].get<std::string>(), HasSubstr("still loading"));
  EXPECT_EQ(send(make_exchange("GET", "/version"))->status(), 200);
  EXPECT_THAT(send(make_exchange("GET", "/metrics"))->response().body,
              HasSubstr("vllm:num_requests_running"));
  service_->ready(backend());
  EXPECT_EQ(send(make_exchange("GET", "/health"))->status(), 200);
  EXPECT_EQ(send(make_exchange("GET", "/health"))->response().body, "");
  service_->begin_drain();
  EXPECT_EQ(send(make_exchange("GET", "/health"))->status(), 503);
  EXPECT_THAT(error_of(chat())["message"].get<std::string>(), HasSubstr("shutting down"));
}

TEST_F(ServiceTest, ADeadEngineIs503) {
  start();
  engine_.is_alive = false;
  EXPECT_EQ(send(make_exchange("GET", "/health"))->status(), 503);
  EXPECT_EQ(error_of(chat())["type"], "ServiceUnavailableError");
}

TEST_F(ServiceTest, AFullQueueIs429WithRetryAfter) {
  engine_.refusal = Error{ErrorCode::kResourceExhausted, "the queue is full", {}};
  const auto exchange = chat();
  EXPECT_EQ(error_of(exchange)["code"], 429);
  EXPECT_EQ(exchange->response().headers.get("Retry-After"), "1");
}

TEST_F(ServiceTest, PromptsThatWereAcceptedAreCancelledWhenALaterOneIsNot) {
  engine_.refusal = Error{ErrorCode::kResourceExhausted, "the queue is full", {}};
  engine_.accepted_before_refusal = 2;
  EXPECT_EQ(error_of(complete(R"("prompt":["a","b","c"])"))["code"], 429);
  EXPECT_THAT(engine_.cancelled(), ElementsAre(1, 2));
}

TEST_F(ServiceTest, DisconnectCancels) {
  const auto exchange = chat(R"("stream":true)");
  engine_.play(0, tokens_of("abc"));
  ASSERT_TRUE(exchange->wait_for_text("abc"));
  exchange->disconnect();
  EXPECT_THAT(engine_.cancelled(), ElementsAre(1));
  engine_.play(0, finish_of(FinishReason::kAbort));
  EXPECT_EQ(exchange->text().find("[DONE]"), std::string::npos);
}

TEST_F(ServiceTest, DisconnectBeforeTheFirstTokenCancelsToo) {
  const auto exchange = complete(R"("prompt":["a","b"])");
  ASSERT_TRUE(exchange->watched());
  exchange->disconnect();
  EXPECT_THAT(engine_.cancelled(), ElementsAre(1, 2));
}

TEST_F(ServiceTest, AFailureInMidStreamIsAnErrorEventAndDone) {
  const auto exchange = chat(R"("stream":true,"n":2)");
  engine_.play(0, tokens_of("a"));
  engine::Update failure = finish_of(FinishReason::kError, 1);
  failure.finish->error = {ErrorCode::kInternal, "this request broke", {}};
  engine_.play(0, failure);
  ASSERT_TRUE(exchange->wait());
  const auto events = exchange->events();
  EXPECT_EQ(events.back(), "[DONE]");
  EXPECT_EQ(events[events.size() - 2]["error"]["message"], "this request broke");
  EXPECT_EQ(events[events.size() - 2]["error"]["code"], 500);
  EXPECT_THAT(engine_.cancelled(), ElementsAre(1));
}

TEST_F(ServiceTest, AFailureBeforeTheFirstTokenHasItsStatus) {
  const auto exchange = chat(R"("stream":true)");
  engine::Update failure = finish_of(FinishReason::kError);
  failure.finish->error = {ErrorCode::kInternal, "broke", {}};
  engine_.play(0, failure);
  ASSERT_TRUE(exchange->wait());
  EXPECT_FALSE(exchange->streamed());
  EXPECT_EQ(exchange->status(), 500);
}

TEST_F(ServiceTest, ShutdownEndsWholeAnswersWith503) {
  const auto exchange = chat();
  engine_.play(0, finish_of(FinishReason::kAbort));
  EXPECT_EQ(error_of(exchange)["code"], 503);
}

TEST_F(ServiceTest, LoadCountsWhatGenerates) {
  const auto load = [&] { return send(make_exchange("GET", "/load"))->json()["server_load"].get<int>(); };
  start();
  EXPECT_EQ(load(), 0);
  const auto exchange = chat();
  engine_.request(0);
  EXPECT_EQ(load(), 1);
  answer(0, "a");
  ASSERT_TRUE(exchange->wait());
  engine_.drop_requests();
  for (int tries = 0; load() != 0 && tries < 1000; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(load(), 0);
}

TEST_F(ServiceTest, WantsJson) {
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded"}) {
    auto exchange = make_exchange("POST", "/v1/completions", R"({"prompt":"a"})");
    const_cast<http::Request&>(exchange->request()).headers.set("Content-Type", type);
    const Json error = error_of(send(exchange));
    EXPECT_EQ(error["code"], 400);
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("application/json"));
  }
  auto exchange = make_exchange("POST", "/tokenize", R"({"prompt":"a"})");
  const_cast<http::Request&>(exchange->request())
      .headers.set("Content-Type", "Application/JSON; charset=utf-8");
  ASSERT_TRUE(send(exchange)->wait());
  EXPECT_EQ(exchange->status(), 200);
}

TEST_F(ServiceTest, TokenizesAndBack) {
  const auto tokens = post("/tokenize", R"({"model":"smol","prompt":"aé","return_token_strs":true})");
  ASSERT_TRUE(tokens->wait());
  EXPECT_EQ(tokens->json(), Json::parse(R"({"count":4,"max_model_len":200,"tokens":[256,97,195,169],
                                            "token_strs":["<s>","a","\ufffd","\ufffd"]})"));
  const auto bare = post("/tokenize", R"({"prompt":"a","add_special_tokens":false})");
  ASSERT_TRUE(bare->wait());
  EXPECT_EQ(bare->json()["tokens"], Json::parse("[97]"));
  EXPECT_TRUE(bare->json()["token_strs"].is_null());
  const auto text = post("/detokenize", R"({"tokens":[256,97,195,169]})");
  ASSERT_TRUE(text->wait());
  EXPECT_EQ(text->json(), Json::parse(R"({"prompt":"<s>aé"})"));
}

TEST_F(ServiceTest, TokenizesChats) {
  const auto tokens =
      post("/tokenize", R"({"messages":[{"role":"user","content":"q"}],"add_generation_prompt":false})");
  ASSERT_TRUE(tokens->wait());
  EXPECT_EQ(tokens->json()["count"], std::string("[user]q").size());
  const auto tools = post("/tokenize", R"({"messages":[{"role":"user","content":"q"}],
                                           "tools":[{"type":"function","function":{"name":"f"}}]})");
  ASSERT_TRUE(tools->wait());
  EXPECT_EQ(tools->status(), 200);
  EXPECT_EQ(error_of(post("/tokenize", "{}"))["param"], "prompt");
  EXPECT_EQ(error_of(post("/detokenize", R"({"tokens":[1000]})"))["param"], "tokens");
  EXPECT_EQ(error_of(post("/detokenize", "{}"))["param"], "tokens");
}

TEST_F(ServiceTest, ListsItsModels) {
  const Json list = send(make_exchange("GET", "/v1/models"))->json();
  EXPECT_EQ(list["object"], "list");
  ASSERT_EQ(list["data"].size(), 2u);
  const Json& card = list["data"][0];
  EXPECT_EQ(card["id"], "smol");
  EXPECT_EQ(card["root"], "/models/SmolLM2.gguf");
  EXPECT_EQ(card["max_model_len"], 200);
  for (const char* field : {"object", "created", "owned_by", "parent", "permission"})
    EXPECT_TRUE(card.contains(field));
  const auto one = make_exchange("GET", "/v1/models/alias");
  const_cast<http::Request&>(one->request()).parameters = {{"id", "alias"}};
  EXPECT_EQ(send(one)->json()["id"], "alias");
  const auto none = make_exchange("GET", "/v1/models/nope");
  const_cast<http::Request&>(none->request()).parameters = {{"id", "nope"}};
  EXPECT_EQ(send(none)->status(), 404);
}

TEST_F(ServiceTest, OptionsAreChecked) {
  ServiceOptions options;
  EXPECT_FALSE(Service::create(options));
  options.names.served = {"m"};
  options.default_chat_template_kwargs = "[1]";
  const auto service = Service::create(options);
  ASSERT_FALSE(service);
  EXPECT_THAT(service.error().message, HasSubstr("--default-chat-template-kwargs"));
}

TEST_F(ServiceTest, TemplateKwargsStartFromTheServersDefaults) {
  ServiceOptions options = default_options();
  options.default_chat_template_kwargs = R"({"style":"terse"})";
  start(std::move(options));
  chat();
  EXPECT_THAT(tokenizer_.decode(engine_.request(0).prompt, false), HasSubstr("[style]terse"));
  chat(R"("chat_template_kwargs":{"style":"ornate"})");
  EXPECT_THAT(tokenizer_.decode(engine_.request(1).prompt, false), HasSubstr("[style]ornate"));
}

TEST_F(ServiceTest, AModelWithoutATemplateSaysSo) {
  start(default_options(), false);
  Backend bare = backend();
  bare.chat_template = nullptr;
  service_->ready(bare);
  EXPECT_THAT(error_of(chat())["message"].get<std::string>(), HasSubstr("--chat-template"));
}

// Sinks outlive the service when an engine ends after it.
TEST_F(ServiceTest, LateUpdatesAreHarmless) {
  const auto exchange = chat();
  engine_.request(0);
  ASSERT_TRUE(exchange->watched());
  service_.reset();
  answer(0, "late");
  engine_.drop_requests();
}

}  // namespace
}  // namespace pagoda::api
