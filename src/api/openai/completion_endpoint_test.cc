#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/service_fixture.h"

namespace pagoda::api {
namespace {

using engine::FinishReason;
using testing::ByteTokenizer;
using ::testing::ElementsAre;
using testing::finish_of;
using ::testing::StartsWith;
using testing::tokens_of;

class CompletionEndpoint : public testing::ServiceFixture {};

engine::SampledToken with_logprob(int32_t token, float logprob) {
  return {token, engine::TokenLogprob{token, logprob, 1}, {{token, logprob, 1}}};
}

TEST_F(CompletionEndpoint, AnswersWhole) {
  const auto exchange = complete(R"("prompt":"ab")");
  EXPECT_THAT(engine_.request(0).prompt, ElementsAre(ByteTokenizer::kBos, 'a', 'b'));
  EXPECT_EQ(engine_.request(0).sampling.max_tokens, 16);
  answer(0, "cd");
  ASSERT_TRUE(exchange->wait());
  const Json json = exchange->json();
  EXPECT_THAT(json["id"].get<std::string>(), StartsWith("cmpl-"));
  EXPECT_EQ(json["object"], "text_completion");
  EXPECT_EQ(json["choices"][0]["text"], "cd");
  EXPECT_EQ(json["choices"][0]["finish_reason"], "stop");
  EXPECT_TRUE(json["choices"][0]["logprobs"].is_null());
  EXPECT_EQ(json["usage"]["prompt_tokens"], 3);
}

TEST_F(CompletionEndpoint, SeveralPromptsTimesN) {
  const auto exchange = complete(R"("prompt":["a",[98]],"n":2)");
  EXPECT_THAT(engine_.request(1).prompt, ElementsAre('b'));
  answer(1, "3", 1);
  answer(1, "2", 0);
  answer(0, "1", 1);
  answer(0, "0", 0);
  ASSERT_TRUE(exchange->wait());
  const Json json = exchange->json();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(json["choices"][static_cast<size_t>(i)]["index"], i);
    EXPECT_EQ(json["choices"][static_cast<size_t>(i)]["text"], std::to_string(i));
  }
  EXPECT_EQ(json["usage"]["prompt_tokens"], 3);
  EXPECT_EQ(json["usage"]["completion_tokens"], 8);
}

TEST_F(CompletionEndpoint, ZeroTokensGiveThePromptsLogprobs) {
  const auto exchange = complete(R"("prompt":"ab","max_tokens":0,"echo":true,"logprobs":1)");
  EXPECT_EQ(engine_.request(0).sampling.max_tokens, 0);
  EXPECT_EQ(engine_.request(0).sampling.prompt_logprobs, 1);
  engine::Update update = finish_of(FinishReason::kLength);
  update.prompt_logprobs = {with_logprob('a', -1.f), with_logprob('b', -2.f)};
  engine_.play(0, update);
  ASSERT_TRUE(exchange->wait());
  const Json choice = exchange->json()["choices"][0];
  EXPECT_EQ(choice["text"], "ab");
  EXPECT_EQ(choice["logprobs"]["tokens"], Json::parse(R"(["<s>","a","b"])"));
  EXPECT_EQ(choice["logprobs"]["token_logprobs"], Json::parse("[null,-1,-2]"));
  EXPECT_EQ(choice["logprobs"]["text_offset"], Json::parse("[0,0,1]"));
  EXPECT_EQ(choice["logprobs"]["top_logprobs"][2], Json::parse(R"({"b":-2})"));
  EXPECT_EQ(exchange->json()["usage"]["completion_tokens"], 0);
}

// Another choice's first token may come before the choice that carries the prompt's logprobs.
TEST_F(CompletionEndpoint, EchoWaitsForThePromptsLogprobs) {
  const auto exchange = complete(R"("prompt":"a","echo":true,"logprobs":0,"n":2,"stream":true)");
  engine::Update second = finish_of(FinishReason::kLength, 1);
  second.tokens = {with_logprob('y', -3.f)};
  engine_.play(0, second);
  engine::Update first = finish_of(FinishReason::kLength, 0);
  first.tokens = {with_logprob('x', -2.f)};
  first.prompt_logprobs = {with_logprob('a', -1.f)};
  engine_.play(0, first);
  ASSERT_TRUE(exchange->wait());
  const auto events = exchange->events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["choices"][0]["text"], "ax");
  EXPECT_EQ(events[1]["choices"][0]["text"], "ay");
  EXPECT_EQ(events[1]["choices"][0]["logprobs"]["token_logprobs"], Json::parse("[null,-1,-3]"));
}

TEST_F(CompletionEndpoint, PromptLogprobsAreAFieldOfTheChoice) {
  const auto exchange = complete(R"("prompt":"a","prompt_logprobs":0,"return_token_ids":true)");
  engine::Update update = testing::end_token(ByteTokenizer::kEos);
  update.prompt_logprobs = {with_logprob('a', -1.f)};
  engine_.play(0, update);
  ASSERT_TRUE(exchange->wait());
  const Json choice = exchange->json()["choices"][0];
  EXPECT_EQ(choice["prompt_logprobs"],
            Json::parse(R"([null,{"97":{"logprob":-1,"rank":1,"decoded_token":"a"}}])"));
  EXPECT_EQ(choice["prompt_token_ids"], Json::parse("[256,97]"));
  EXPECT_EQ(choice["token_ids"], Json::parse("[257]"));
}

TEST_F(CompletionEndpoint, StreamsWithEchoAndIds) {
  const auto exchange = complete(R"("prompt":"ab","echo":true,"return_token_ids":true,"stream":true)");
  engine_.play(0, tokens_of("c"));
  engine_.play(0, testing::end_token(ByteTokenizer::kEos));
  ASSERT_TRUE(exchange->wait());
  const auto events = exchange->events();
  EXPECT_EQ(events[0]["choices"][0]["text"], "abc");
  EXPECT_EQ(events[0]["choices"][0]["prompt_token_ids"], Json::parse("[256,97,98]"));
  EXPECT_EQ(events[1]["choices"][0]["token_ids"], Json::parse("[257]"));
  EXPECT_FALSE(events[1]["choices"][0].contains("prompt_token_ids"));
}

TEST_F(CompletionEndpoint, StopStringsReachEngineAndText) {
  complete(R"("prompt":"a","stop":["x"],"min_tokens":3)");
  EXPECT_TRUE(engine_.request(0).make_stop_watcher);
  EXPECT_EQ(engine_.request(0).sampling.min_tokens, 3);
  complete(R"("prompt":"a")");
  EXPECT_FALSE(engine_.request(1).make_stop_watcher);
}

TEST_F(CompletionEndpoint, EchoOfATruncatedPromptIsWhatTheModelRead) {
  const auto exchange = complete(R"("prompt":"abcd","echo":true,"truncate_prompt_tokens":2)");
  EXPECT_THAT(engine_.request(0).prompt, ElementsAre('c', 'd'));
  answer(0, "e");
  ASSERT_TRUE(exchange->wait());
  EXPECT_EQ(exchange->json()["choices"][0]["text"], "cde");
}

}  // namespace
}  // namespace pagoda::api
