#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/service_fixture.h"

namespace pagoda::api {
namespace {

using engine::FinishReason;
using testing::ByteTokenizer;
using ::testing::ElementsAre;
using testing::finish_of;
using ::testing::HasSubstr;
using testing::make_exchange;
using ::testing::StartsWith;
using testing::tokens_of;

class ChatEndpoint : public testing::ServiceFixture {};

TEST_F(ChatEndpoint, AnswersWhole) {
  const auto exchange = chat();
  answer(0, "Hello there");
  ASSERT_TRUE(exchange->wait());
  ASSERT_EQ(exchange->status(), 200);
  const Json json = exchange->json();
  EXPECT_THAT(json["id"].get<std::string>(), StartsWith("chatcmpl-"));
  EXPECT_EQ(json["object"], "chat.completion");
  EXPECT_EQ(json["model"], "smol");
  EXPECT_GT(json["created"], 1'600'000'000);
  EXPECT_TRUE(json["system_fingerprint"].is_null());
  const Json& choice = json["choices"][0];
  EXPECT_EQ(choice["message"]["role"], "assistant");
  EXPECT_EQ(choice["message"]["content"], "Hello there");
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_TRUE(choice["stop_reason"].is_null());
  EXPECT_TRUE(choice["logprobs"].is_null());
  const auto prompt_tokens = std::string("[user]hi[assistant]").size();
  EXPECT_EQ(json["usage"], (Json{{"prompt_tokens", prompt_tokens},
                                 {"total_tokens", prompt_tokens + 12},
                                 {"completion_tokens", 12}}));
}

TEST_F(ChatEndpoint, GivesTheRestOfTheContextByDefault) {
  chat();
  const engine::Request& request = engine_.request(0);
  EXPECT_EQ(request.sampling.max_tokens + static_cast<int>(request.prompt.size()), 200);
  EXPECT_EQ(tokenizer_.decode(request.prompt, false), "[user]hi[assistant]");
}

TEST_F(ChatEndpoint, Streams) {
  const auto exchange = chat(R"("stream":true)");
  engine_.play(0, tokens_of("Hi "));
  engine_.play(0, tokens_of("\xf0\x9f"));
  engine_.play(0, tokens_of("\x98\x80"));
  engine_.play(0, testing::end_token(ByteTokenizer::kEos));
  ASSERT_TRUE(exchange->wait());
  EXPECT_EQ(exchange->response().content_type, "text/event-stream; charset=utf-8");
  const auto events = exchange->events();
  EXPECT_EQ(events[0]["object"], "chat.completion.chunk");
  EXPECT_EQ(events[0]["choices"][0]["delta"], (Json{{"role", "assistant"}, {"content", ""}}));
  EXPECT_EQ(events.back(), "[DONE]");
  std::string text;
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    EXPECT_EQ(events[i]["id"], events[0]["id"]);
    EXPECT_FALSE(events[i].contains("usage"));
    text += events[i]["choices"][0]["delta"].value("content", "");
  }
  EXPECT_EQ(text, "Hi 😀");
  EXPECT_EQ(events[events.size() - 2]["choices"][0]["finish_reason"], "stop");
}

TEST_F(ChatEndpoint, UsageChunkOnlyWhenIncluded) {
  const auto empty = chat(R"("stream":true,"stream_options":{})");
  answer(0, "a");
  ASSERT_TRUE(empty->wait());
  for (const Json& event : empty->events()) EXPECT_FALSE(event.is_object() && event.contains("usage"));

  const auto included = chat(R"("stream":true,"stream_options":{"include_usage":true})");
  answer(1, "a");
  ASSERT_TRUE(included->wait());
  const auto events = included->events();
  const Json& last = events[events.size() - 2];
  EXPECT_EQ(last["choices"], Json::array());
  EXPECT_EQ(last["usage"]["completion_tokens"], 2);
  for (size_t i = 0; i + 2 < events.size(); ++i) EXPECT_FALSE(events[i].contains("usage"));
}

TEST_F(ChatEndpoint, ContinuousUsageStandsInEveryChunk) {
  const auto exchange =
      chat(R"("stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true})");
  engine_.play(0, tokens_of("ab"));
  engine_.play(0, tokens_of("c"));
  engine_.play(0, testing::end_token(ByteTokenizer::kEos));
  ASSERT_TRUE(exchange->wait());
  std::vector<int> counts;
  for (const Json& event : exchange->events()) {
    if (event.is_object()) counts.push_back(event["usage"]["completion_tokens"]);
  }
  EXPECT_THAT(counts, ElementsAre(0, 2, 3, 4, 4));
}

TEST_F(ChatEndpoint, ChoicesOfNAreKeptApart) {
  const auto exchange = chat(R"("n":2)");
  EXPECT_EQ(engine_.request(0).n, 2);
  engine_.play(0, tokens_of("b", 1));
  engine_.play(0, tokens_of("a", 0));
  answer(0, "A", 0);
  answer(0, "B", 1);
  ASSERT_TRUE(exchange->wait());
  EXPECT_EQ(exchange->json()["choices"][0]["message"]["content"], "aA");
  EXPECT_EQ(exchange->json()["choices"][1]["message"]["content"], "bB");
  EXPECT_EQ(exchange->json()["usage"]["completion_tokens"], 6);
}

TEST_F(ChatEndpoint, StreamedEqualsWhole) {
  const std::string fields = R"("logprobs":true,"top_logprobs":1,"return_token_ids":true,"n":2)";
  const auto whole = chat(fields);
  const auto stream = chat(fields + R"(,"stream":true)");
  for (size_t request : {0u, 1u}) {
    for (int choice : {1, 0}) {
      for (char byte : std::string("é😀 x")) {
        engine::Update update = tokens_of(std::string_view(&byte, 1), choice);
        update.tokens[0].chosen = engine::TokenLogprob{update.tokens[0].token, -0.25f, 1};
        update.tokens[0].top = {*update.tokens[0].chosen};
        engine_.play(request, update);
      }
      engine_.play(request, finish_of(FinishReason::kLength, choice));
    }
  }
  ASSERT_TRUE(whole->wait() && stream->wait());
  for (int choice : {0, 1}) {
    std::string text;
    Json logprobs = Json::array(), ids = Json::array();
    for (const Json& event : stream->events()) {
      if (!event.is_object() || event["choices"][0]["index"] != choice) continue;
      const Json& part = event["choices"][0];
      text += part["delta"].value("content", "");
      if (part.contains("token_ids"))
        ids.insert(ids.end(), part["token_ids"].begin(), part["token_ids"].end());
      if (part["logprobs"].is_null()) continue;
      logprobs.insert(logprobs.end(), part["logprobs"]["content"].begin(), part["logprobs"]["content"].end());
    }
    const Json expected = whole->json()["choices"][static_cast<size_t>(choice)];
    EXPECT_EQ(text, expected["message"]["content"]);
    EXPECT_EQ(logprobs, expected["logprobs"]["content"]);
    EXPECT_EQ(ids, expected["token_ids"]);
  }
  EXPECT_EQ(stream->events()[0]["prompt_token_ids"], whole->json()["prompt_token_ids"]);
}

TEST_F(ChatEndpoint, HeldBackTextMakesNoChunk) {
  const auto exchange = chat(R"("stream":true,"stop":["zz"])");
  engine_.play(0, tokens_of("\xf0"));
  engine_.play(0, tokens_of("\x9f"));
  engine_.play(0, finish_of(FinishReason::kLength));
  ASSERT_TRUE(exchange->wait());
  EXPECT_EQ(exchange->events().size(), 3u);  // role, ending, [DONE]
}

TEST_F(ChatEndpoint, EchoesTheLastMessageOfItsRole) {
  const auto exchange =
      post("/v1/chat/completions",
           R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"Once"}],
                                 "echo":true,"continue_final_message":true,"max_tokens":5})");
  answer(0, " upon");
  ASSERT_TRUE(exchange->wait());
  EXPECT_EQ(exchange->json()["choices"][0]["message"]["content"], "Once upon");
}

TEST_F(ChatEndpoint, TheTemplatesRefusalIs400) {
  const Json error =
      error_of(post("/v1/chat/completions", R"({"messages":[{"role":"user","content":"refuse me"}]})"));
  EXPECT_EQ(error["code"], 400);
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("this template refuses that"));
}

TEST_F(ChatEndpoint, UnknownModelsAre404NamingThoseThatExist) {
  const Json error = error_of(
      post("/v1/chat/completions", R"({"model":"gpt-9","messages":[{"role":"user","content":"x"}]})"));
  EXPECT_EQ(error["code"], 404);
  EXPECT_EQ(error["type"], "NotFoundError");
  EXPECT_EQ(error["param"], "model");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(R"("smol", "alias")"));
}

TEST_F(ChatEndpoint, OverflowStatesBothSizesOnEveryRoute) {
  const std::string words(100'000, 'w');
  for (const auto& exchange :
       {post("/v1/chat/completions", R"({"messages":[{"role":"user","content":")" + words + R"("}]})"),
        post("/v1/completions", R"({"prompt":")" + words + R"("})")}) {
    const Json error = error_of(exchange);
    EXPECT_EQ(error["code"], 400);
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("maximum context length is 200 tokens"));
    EXPECT_THAT(error["message"].get<std::string>(),
                ::testing::ContainsRegex("prompt has (at least )?[0-9]+ tokens"));
  }
}

TEST_F(ChatEndpoint, TheClientsIdIsKept) {
  auto exchange =
      make_exchange("POST", "/v1/chat/completions", R"({"messages":[{"role":"user","content":"x"}]})");
  const_cast<http::Request&>(exchange->request()).headers.set("X-Request-Id", "mine-1");
  send(exchange);
  answer(0, "a");
  ASSERT_TRUE(exchange->wait());
  EXPECT_EQ(exchange->json()["id"], "chatcmpl-mine-1");
}

}  // namespace
}  // namespace pagoda::api
