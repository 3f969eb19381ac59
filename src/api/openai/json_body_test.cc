#include "api/openai/json_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::api {
namespace {

using ::testing::HasSubstr;

std::string fault_of(std::string_view body) {
  const auto json = parse_json(body);
  if (json) return "accepted";
  EXPECT_EQ(json.error().code, ErrorCode::kInvalidArgument);
  return json.error().message;
}

TEST(JsonBody, TellsWhereItIsMalformed) {
  EXPECT_THAT(fault_of("{\"a\": 1,\n \"b\": }"), HasSubstr("line 2, column 7"));
  EXPECT_THAT(fault_of("{"), HasSubstr("line 1, column 2"));
  EXPECT_THAT(fault_of("{\"a\":1} x"), HasSubstr("line 1, column 9"));
}

TEST(JsonBody, DoesNotEchoTheInput) {
  EXPECT_EQ(fault_of("{\"secret-word\" 1}").find("secret-word"), std::string::npos);
}

TEST(JsonBody, RefusesHostileDepthWithoutRecursion) {
  EXPECT_THAT(fault_of(std::string(100'000, '[')), HasSubstr("deeper than 200 levels at line 1, column 201"));
  EXPECT_THAT(fault_of(std::string(100'000, '{')), HasSubstr("deeper than 200 levels"));
  const std::string at_limit = std::string(200, '[') + std::string(200, ']');
  EXPECT_TRUE(parse_json(at_limit));
  EXPECT_FALSE(parse_json("[" + at_limit + "]"));
}

TEST(JsonBody, BracketsInStringsAreNoDepth) {
  EXPECT_TRUE(parse_json("{\"a\":\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"}"));
}

TEST(JsonBody, RefusesInvalidUtf8AndLoneSurrogates) {
  EXPECT_THAT(fault_of("{\"a\":\"\xff\"}"), HasSubstr("UTF-8"));
  EXPECT_THAT(fault_of("{\"a\":\"\xc0\xaf\"}"), HasSubstr("UTF-8"));
  EXPECT_THAT(fault_of(R"({"a":"\ud83d"})"), HasSubstr("surrogate"));
  EXPECT_THAT(fault_of(R"({"a":"\ude00"})"), HasSubstr("surrogate"));
  EXPECT_EQ(parse_json(R"(["\ud83d\ude00"])")->at(0), "😀");
}

TEST(JsonBody, RefusesNumbersThatDoNotFit) {
  EXPECT_THAT(fault_of("[1e999]"), HasSubstr("out of range"));
}

TEST(JsonBody, BoundsTheWorkThatKeysCause) {
  std::string body = "{";
  for (int i = 0; i < 20'000; ++i) body += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":0";
  body += '}';
  EXPECT_THAT(fault_of(body), HasSubstr("too many keys"));
}

TEST(JsonBody, BoundsTheNumberOfValues) {
  std::string body = "[0";
  for (int i = 0; i < 2'000'001; ++i) body += ",0";
  EXPECT_THAT(fault_of(body + "]"), HasSubstr("more than 2000000 values"));
}

TEST(JsonBody, WantsAnObjectAtTheTop) {
  EXPECT_THAT(parse_json_object("[]").error().message, HasSubstr("must be a JSON object, not an array"));
  EXPECT_THAT(parse_json_object("").error().message, HasSubstr("no body"));
  EXPECT_TRUE(parse_json_object("{}"));
}

TEST(JsonBody, TheLastOfEqualKeysCounts) {
  EXPECT_EQ(parse_json(R"({"a":1,"a":2})")->at("a"), 2);
}

}  // namespace
}  // namespace pagoda::api
