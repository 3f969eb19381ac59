#include "api/openai/completion_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/byte_tokenizer.h"

namespace pagoda::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const testing::ByteTokenizer kTokenizer;

Result<CompletionRequest> parse(std::string_view body) {
  RequestLimits limits;
  limits.tokenizer = &kTokenizer;
  limits.max_model_len = 100;
  limits.max_prompts = 3;
  return parse_completion_request(Json::parse(body), limits);
}
std::string fault_of(std::string_view body) {
  const auto request = parse(body);
  return request ? "accepted" : request.error().message;
}

TEST(CompletionRequest, TakesPromptsInFourForms) {
  using Ids = std::vector<int32_t>;
  EXPECT_THAT(parse(R"({"prompt":"a"})")->prompts, ElementsAre(CompletionPrompt("a")));
  EXPECT_THAT(parse(R"({"prompt":["a","b"]})")->prompts,
              ElementsAre(CompletionPrompt("a"), CompletionPrompt("b")));
  EXPECT_THAT(parse(R"({"prompt":[1,2]})")->prompts, ElementsAre(CompletionPrompt(Ids{1, 2})));
  EXPECT_THAT(parse(R"({"prompt":[[1],[2,3]]})")->prompts,
              ElementsAre(CompletionPrompt(Ids{1}), CompletionPrompt(Ids{2, 3})));
}

TEST(CompletionRequest, RefusesOtherPrompts) {
  EXPECT_EQ(fault_of("{}"), "prompt is required");
  EXPECT_EQ(fault_of(R"({"prompt":""})"), "prompt must not be empty");
  EXPECT_EQ(fault_of(R"({"prompt":[]})"), "prompt must not be an empty array");
  EXPECT_EQ(fault_of(R"({"prompt":[[]]})"), "prompt must not hold an empty array of token ids");
  EXPECT_THAT(fault_of(R"({"prompt":[1,"a"]})"), HasSubstr("token ids"));
  EXPECT_THAT(fault_of(R"({"prompt":["a",1]})"), HasSubstr("it holds an integer"));
  EXPECT_THAT(fault_of(R"({"prompt":[259]})"), HasSubstr("out of vocabulary (0 to 258)"));
  EXPECT_THAT(fault_of(R"({"prompt":["a","b","c","d"]})"), HasSubstr("at most 3 prompts"));
  EXPECT_THAT(fault_of(R"({"prompt":{"a":1}})"), HasSubstr("an object"));
}

TEST(CompletionRequest, ZeroTokensAndNull) {
  EXPECT_EQ(parse(R"({"prompt":"a","max_tokens":0,"echo":true,"logprobs":1})")->generation.max_tokens, 0);
  EXPECT_EQ(parse(R"({"prompt":"a","max_tokens":null})")->generation.max_tokens, std::nullopt);
}

TEST(CompletionRequest, EchoWithLogprobsAsksForThePromptsOwn) {
  EXPECT_EQ(parse(R"({"prompt":"a","echo":true,"logprobs":2})")->generation.sampling.prompt_logprobs, 2);
  EXPECT_EQ(parse(R"({"prompt":"a","echo":true,"logprobs":2,"prompt_logprobs":5})")
                ->generation.sampling.prompt_logprobs,
            5);
  EXPECT_EQ(parse(R"({"prompt":"a","logprobs":2})")->generation.sampling.prompt_logprobs, std::nullopt);
}

TEST(CompletionRequest, SuffixIsRefused) {
  EXPECT_THAT(fault_of(R"({"prompt":"a","suffix":"b"})"), HasSubstr("suffix is not supported"));
  EXPECT_TRUE(parse(R"({"prompt":"a","suffix":null})"));
}

}  // namespace
}  // namespace pagoda::api
