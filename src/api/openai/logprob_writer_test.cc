#include "api/openai/logprob_writer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "api/openai/json_body.h"
#include "api/testing/byte_tokenizer.h"

namespace pagoda::api {
namespace {

using testing::ByteTokenizer;

engine::SampledToken sampled(int32_t token, float logprob, std::vector<engine::TokenLogprob> top) {
  return {token, engine::TokenLogprob{token, logprob, 1}, std::move(top)};
}

TEST(LogprobWriter, ChatEntriesCarryBytesAndAlternatives) {
  const ByteTokenizer tokenizer;
  ChatLogprobs out;
  LogprobWriter(tokenizer, 2, false)
      .append(out, sampled(0xf0, -0.5f, {{0xf0, -0.5f, 1}, {'b', -2.f, 2}, {'c', -3.f, 3}}));
  const Json entry = Json::parse(out.content);
  EXPECT_EQ(entry["token"], "\xef\xbf\xbd");
  EXPECT_EQ(entry["bytes"], Json::array({0xf0}));
  EXPECT_EQ(entry["logprob"], -0.5);
  ASSERT_EQ(entry["top_logprobs"].size(), 2u);
  EXPECT_EQ(entry["top_logprobs"][1]["token"], "b");
}

TEST(LogprobWriter, FloorsWhatCannotHappen) {
  const ByteTokenizer tokenizer;
  ChatLogprobs out;
  LogprobWriter(tokenizer, 0, false).append(out, sampled('a', -INFINITY, {}));
  EXPECT_EQ(Json::parse(out.content)["logprob"], -9999.0);
  EXPECT_EQ(Json::parse(out.content)["top_logprobs"], Json::array());
}

TEST(LogprobWriter, CompletionListsHoldTheChosenTokenToo) {
  const ByteTokenizer tokenizer;
  CompletionLogprobs out;
  const LogprobWriter writer(tokenizer, 1, false);
  writer.append_without_logprob(out, ByteTokenizer::kBos, 0);
  writer.append(out, sampled('x', -4.f, {{'a', -0.1f, 1}, {'b', -3.f, 2}}), 3);
  const Json top = Json::parse("[" + out.top_logprobs + "]");
  EXPECT_TRUE(top[0].is_null());
  EXPECT_EQ(top[1].size(), 2u);
  EXPECT_TRUE(top[1].contains("a") && top[1].contains("x"));
  EXPECT_EQ(Json::parse("[" + out.token_logprobs + "]"), Json::parse("[null,-4.0]"));
  EXPECT_EQ(Json::parse("[" + out.text_offset + "]"), Json::parse("[0,3]"));
  EXPECT_EQ(Json::parse("[" + out.tokens + "]"), Json::parse(R"(["<s>","x"])"));
}

// Alternatives that are parts of characters must stay apart in a map keyed by text.
TEST(LogprobWriter, PartsOfCharactersStayApart) {
  const ByteTokenizer tokenizer;
  CompletionLogprobs out;
  LogprobWriter(tokenizer, 2, false).append(out, sampled(0xe6, -1.f, {{0xe6, -1.f, 1}, {0xe7, -2.f, 2}}), 0);
  const Json top = Json::parse(out.top_logprobs);
  EXPECT_EQ(top.size(), 2u);
  EXPECT_TRUE(top.contains("bytes:\\xe6") && top.contains("bytes:\\xe7"));
}

TEST(LogprobWriter, WritesIdsWhereAsked) {
  const ByteTokenizer tokenizer;
  ChatLogprobs out;
  LogprobWriter(tokenizer, 0, true).append(out, sampled('a', -1.f, {}));
  EXPECT_EQ(Json::parse(out.content)["token"], "token_id:97");
}

TEST(LogprobWriter, PromptLogprobsAreKeyedById) {
  const ByteTokenizer tokenizer;
  const std::vector<engine::SampledToken> tokens{sampled('b', -1.f, {{'a', -0.5f, 1}, {'b', -1.f, 2}})};
  const Json json = Json::parse(prompt_logprobs_json(tokenizer, tokens, 2));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_TRUE(json[0].is_null());
  EXPECT_EQ(json[1]["98"]["decoded_token"], "b");
  EXPECT_EQ(json[1]["97"]["rank"], 1);
  EXPECT_EQ(json[1].size(), 2u);
}

}  // namespace
}  // namespace pagoda::api
