#include "api/openai/chat_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "api/testing/byte_tokenizer.h"

namespace pagoda::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const testing::ByteTokenizer kTokenizer;

RequestLimits limits() {
  RequestLimits limits;
  limits.tokenizer = &kTokenizer;
  limits.model_name = "smol";
  limits.max_model_len = 100;
  return limits;
}

Result<ChatRequest> parse(std::string_view fields, RequestLimits with = limits()) {
  std::string body = R"({"messages":[{"role":"user","content":"hi"}])";
  if (!fields.empty()) body += ',' + std::string(fields);
  return parse_chat_request(Json::parse(body + '}'), with, {"smol", false, false}, Json::object());
}
Error fault_of(std::string_view fields) {
  const auto request = parse(fields);
  EXPECT_FALSE(request) << fields;
  return request ? Error{} : request.error();
}

TEST(ChatRequest, SilenceMeansTheModelsRecommendation) {
  RequestLimits with = limits();
  with.default_sampling.temperature = 0.7f;
  with.default_sampling.top_k = 20;
  const auto request = parse(R"("top_k":-1)", with);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->generation.sampling.temperature, 0.7f);
  EXPECT_EQ(request->generation.sampling.top_k, -1);
}

TEST(ChatRequest, HasVllmsDefaults) {
  const auto request = parse("");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->generation.sampling.temperature, 1.f);
  EXPECT_EQ(request->generation.answer.n, 1);
  EXPECT_FALSE(request->generation.max_tokens);
  EXPECT_FALSE(request->generation.answer.logprobs);
  EXPECT_TRUE(request->prompt.add_generation_prompt);
  EXPECT_FALSE(request->prompt.add_special_tokens);
}

TEST(ChatRequest, NullMeansTheDefault) {
  EXPECT_TRUE(
      parse(R"("max_tokens":null,"n":null,"stop":null,"stream":null,"stream_options":null,"tools":null,
                       "tool_choice":null,"logit_bias":null,"seed":null,"response_format":null,"top_p":null)"));
}

struct AbsurdValue {
  const char *fields, *param, *says;
};
void PrintTo(const AbsurdValue& value, std::ostream* out) {
  *out << value.fields;
}
class Absurd : public ::testing::TestWithParam<AbsurdValue> {};

TEST_P(Absurd, Is400NamingFieldAndRange) {
  const Error error = fault_of(GetParam().fields);
  EXPECT_EQ(error.param, GetParam().param);
  EXPECT_THAT(error.message, HasSubstr(GetParam().param));
  EXPECT_THAT(error.message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    ChatRequest, Absurd,
    ::testing::Values(
        AbsurdValue{R"("top_p":-1)", "top_p", "greater than 0 and at most 1, got -1"},
        AbsurdValue{R"("temperature":999999)", "temperature", "from 0 to 100, got 999999"},
        AbsurdValue{R"("temperature":-0.1)", "temperature", "from 0 to 100"},
        AbsurdValue{R"("repetition_penalty":0)", "repetition_penalty", "greater than 0"},
        AbsurdValue{R"("n":0)", "n", "from 1 to 128, got 0"},
        AbsurdValue{R"("top_k":-5)", "top_k", "at least -1, got -5"},
        AbsurdValue{R"("presence_penalty":9)", "presence_penalty", "from -2 to 2, got 9"},
        AbsurdValue{R"("frequency_penalty":-9)", "frequency_penalty", "from -2 to 2"},
        AbsurdValue{R"("min_p":1.5)", "min_p", "from 0 to 1"},
        AbsurdValue{R"("max_tokens":0)", "max_tokens", "at least 1"},
        AbsurdValue{R"("max_tokens":"ten")", "max_tokens", "not a string"},
        AbsurdValue{R"("max_completion_tokens":-3)", "max_completion_tokens", "at least 1"},
        AbsurdValue{R"("seed":1.5)", "seed", "integer"}, AbsurdValue{R"("stop":[""])", "stop", "empty"},
        AbsurdValue{R"("stop":[1])", "stop", "array of strings"},
        AbsurdValue{R"("stream":"yes")", "stream", "true or false"},
        AbsurdValue{R"("stop_token_ids":[259])", "stop_token_ids", "out of vocabulary"},
        AbsurdValue{R"("allowed_token_ids":[])", "allowed_token_ids", "empty"},
        AbsurdValue{R"("bad_words":[""])", "bad_words", "empty"},
        AbsurdValue{R"("cache_salt":"")", "cache_salt", "non-empty"},
        AbsurdValue{R"("priority":1)", "priority", "fcfs"},
        AbsurdValue{R"("truncate_prompt_tokens":0)", "truncate_prompt_tokens", "1 to 100"},
        AbsurdValue{R"("top_logprobs":3)", "top_logprobs", "when logprobs is true"},
        AbsurdValue{R"("logprobs":true,"top_logprobs":21)", "top_logprobs", "from 0 to 20"},
        AbsurdValue{R"("stream":true,"prompt_logprobs":1)", "prompt_logprobs", "stream"},
        AbsurdValue{R"("stream_options":{"include_usage":true})", "stream_options", "stream is true"},
        AbsurdValue{R"("reasoning_effort":"heroic")", "reasoning_effort", "one of"},
        AbsurdValue{R"("chat_template":"x")", "chat_template", "--trust-request-chat-template"},
        AbsurdValue{R"("chat_template_kwargs":{"chat_template":"x"})", "chat_template", "trust"},
        AbsurdValue{R"("best_of":2)", "best_of", "equals n"}));

class NotInThisBuild : public ::testing::TestWithParam<AbsurdValue> {};

TEST_P(NotInThisBuild, Is400NamingTheField) {
  const Error error = fault_of(GetParam().fields);
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_EQ(error.param, GetParam().param);
  EXPECT_THAT(error.message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    ChatRequest, NotInThisBuild,
    ::testing::Values(
        AbsurdValue{R"("structured_outputs":{"regex":"foo**"})", "structured_outputs", "not supported"},
        AbsurdValue{R"("guided_json":{})", "guided_json", "not supported"},
        AbsurdValue{R"("guided_choice":["a"])", "guided_choice", "not supported"},
        AbsurdValue{R"("response_format":{"type":"json_object"})", "response_format", "json_object"},
        AbsurdValue{R"("response_format":{"type":"json_schema","json_schema":{}})", "response_format",
                    "json_schema"},
        AbsurdValue{R"("use_beam_search":true)", "use_beam_search", "not supported"},
        AbsurdValue{R"("tools":[{"type":"function","function":{"name":"f"}}])", "tool_choice",
                    "--enable-auto-tool-choice"},
        AbsurdValue{R"("tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required")",
                    "tool_choice", "forced"},
        AbsurdValue{R"("tools":[{"type":"function","function":{"name":"f"}}],
                                     "tool_choice":{"type":"function","function":{"name":"f"}})",
                    "tool_choice", "forced"}));

TEST(ChatRequest, WhatIsOffIsAccepted) {
  for (const char* fields :
       {R"("response_format":{"type":"text"})", R"("tools":[])", R"("tools":[],"tool_choice":"none")",
        R"("tool_choice":"none")", R"("use_beam_search":false)", R"("stream":true,"stream_options":{})",
        R"("stream_options":{})", R"("unknown_field":{"a":[1]})", R"("user":"me")", R"("best_of":1)"}) {
    const auto request = parse(fields);
    EXPECT_TRUE(request) << fields << ": " << request.error().message;
  }
}

TEST(ChatRequest, ToolsGoToTheTemplateWithChoiceNone) {
  const auto request = parse(R"("tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none")");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->prompt.tools[0]["function"]["name"], "f");
  EXPECT_THAT(fault_of(R"("tools":[{"function":{}}],"tool_choice":"none")").message, HasSubstr("tools[0]"));
}

TEST(ChatRequest, ReadsEverythingElse) {
  const auto request = parse(R"("temperature":0,"top_p":0.5,"top_k":7,"min_p":0.1,"seed":-1,"stop":"x",
      "stop_token_ids":[1],"min_tokens":3,"max_tokens":5,"max_completion_tokens":6,"ignore_eos":true,
      "logit_bias":{"65":-100,"66":1.5},"n":2,"logprobs":true,"top_logprobs":2,"stream":true,
      "stream_options":{"include_usage":true,"continuous_usage_stats":true},"return_token_ids":true,
      "include_stop_str_in_output":true,"skip_special_tokens":false,"cache_salt":"s","request_id":"r",
      "chat_template_kwargs":{"style":"terse"},"reasoning_effort":"low","echo":true)");
  ASSERT_TRUE(request) << request.error().message;
  const GenerationRequest& generation = request->generation;
  EXPECT_EQ(generation.sampling.seed, UINT64_MAX);
  EXPECT_EQ(generation.max_tokens, 6);
  EXPECT_EQ(generation.sampling.min_tokens, 3);
  EXPECT_THAT(generation.sampling.logit_bias,
              ElementsAre(std::pair<int32_t, float>(65, -100.f), std::pair<int32_t, float>(66, 1.5f)));
  EXPECT_EQ(generation.answer.logprobs, 2);
  EXPECT_TRUE(generation.answer.include_usage && generation.answer.continuous_usage);
  EXPECT_THAT(generation.answer.stop, ElementsAre("x"));
  EXPECT_EQ(request->prompt.template_kwargs["style"], "terse");
  EXPECT_EQ(request->prompt.template_kwargs["reasoning_effort"], "low");
  EXPECT_EQ(request->prompt.template_kwargs["enable_thinking"], true);
}

TEST(ChatRequest, LogitBiasOutOfVocabularyIsNamed) {
  for (const char* fields : {R"("logit_bias":{"99999999":-100})", R"("logit_bias":{"-1":1})",
                             R"("logit_bias":{"x":1})", R"("logit_bias":{"1":101})", R"("logit_bias":[1])"}) {
    EXPECT_EQ(fault_of(fields).param, "logit_bias") << fields;
  }
}

TEST(ChatRequest, ContinuesTheFinalMessage) {
  EXPECT_FALSE(parse(R"("continue_final_message":true)")->prompt.add_generation_prompt);
  EXPECT_THAT(fault_of(R"("continue_final_message":true,"add_generation_prompt":true)").message,
              HasSubstr("cannot both be true"));
}

TEST(ChatRequest, BadWordsAreForbiddenAloneAndAfterASpace) {
  const auto request = parse(R"("bad_words":["ab"])");
  // Bytes: " ab" has another length than "ab", so only one form counts.
  EXPECT_THAT(request->generation.sampling.bad_words, ElementsAre(ElementsAre('a', 'b')));
}

TEST(FitToContext, DefaultsAndOverflow) {
  const auto request = parse("");
  engine::SamplingParams sampling;
  std::vector<int32_t> prompt(90, 1);
  ASSERT_TRUE(fit_to_context(request->generation, limits(), std::nullopt, prompt, sampling));
  EXPECT_EQ(sampling.max_tokens, 10);
  ASSERT_TRUE(fit_to_context(request->generation, limits(), 16, prompt, sampling));
  EXPECT_EQ(sampling.max_tokens, 10);
  RequestLimits capped = limits();
  capped.max_new_tokens = 7;
  ASSERT_TRUE(fit_to_context(request->generation, capped, std::nullopt, prompt, sampling));
  EXPECT_EQ(sampling.max_tokens, 7) << "of the model's own recommendation";
  prompt.resize(100, 1);
  const Status overflow = fit_to_context(request->generation, limits(), std::nullopt, prompt, sampling);
  EXPECT_THAT(overflow.error().message, HasSubstr("maximum context length is 100 tokens"));
  EXPECT_THAT(overflow.error().message, HasSubstr("has 100 tokens"));
}

TEST(FitToContext, NamesWhatMaxTokensExceeds) {
  const auto request = parse(R"("max_tokens":11)");
  engine::SamplingParams sampling;
  std::vector<int32_t> prompt(90, 1);
  const Status overflow = fit_to_context(request->generation, limits(), std::nullopt, prompt, sampling);
  EXPECT_EQ(overflow.error().param, "max_tokens");
  EXPECT_THAT(overflow.error().message,
              HasSubstr("100 tokens, and the prompt has 90 tokens, which leaves 10; got 11"));
}

TEST(FitToContext, TruncatesOnTheSideAskedFor) {
  engine::SamplingParams sampling;
  std::vector<int32_t> prompt{1, 2, 3};
  ASSERT_TRUE(
      fit_to_context(parse(R"("truncate_prompt_tokens":2)")->generation, limits(), 1, prompt, sampling));
  EXPECT_THAT(prompt, ElementsAre(2, 3));
  prompt = {1, 2, 3};
  ASSERT_TRUE(fit_to_context(parse(R"("truncate_prompt_tokens":2,"truncation_side":"right")")->generation,
                             limits(), 1, prompt, sampling));
  EXPECT_THAT(prompt, ElementsAre(1, 2));
  prompt.assign(500, 7);
  ASSERT_TRUE(fit_to_context(parse(R"("truncate_prompt_tokens":-1,"max_tokens":10)")->generation, limits(), 1,
                             prompt, sampling));
  EXPECT_EQ(prompt.size(), 90u);
}

TEST(FitToContext, MinTokensMayNotExceedMaxTokens) {
  engine::SamplingParams sampling = parse(R"("min_tokens":6)")->generation.sampling;
  std::vector<int32_t> prompt{1};
  const Status status = fit_to_context(parse(R"("max_tokens":5)")->generation, limits(), 1, prompt, sampling);
  EXPECT_EQ(status.error().param, "min_tokens");
}

TEST(CheckTextSize, RefusesWhatCannotFitBeforeItIsTokenized) {
  EXPECT_TRUE(check_text_size(std::string(500, 'x'), 5, limits()));
  EXPECT_THAT(check_text_size(std::string(505, 'x'), 5, limits()).error().message,
              HasSubstr("the prompt has at least 101 tokens"));
}

}  // namespace
}  // namespace pagoda::api
