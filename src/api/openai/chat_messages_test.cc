#include "api/openai/chat_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::api {
namespace {

using ::testing::HasSubstr;

Result<Json> normalise(std::string_view messages, MessageForm form = {"smol", false, false}) {
  return normalise_messages(Json::parse(messages), form);
}
std::string fault_of(std::string_view messages) {
  const auto result = normalise(messages);
  return result ? "accepted" : result.error().message;
}

TEST(ChatMessages, JoinsTextParts) {
  const auto out = normalise(R"([{"role":"user","content":[{"type":"text","text":"a"},{"text":"b"},"c"]}])");
  EXPECT_EQ((*out)[0]["content"], "a\nb\nc");
  const auto parts = normalise(R"([{"role":"user","content":"a"}])", {"smol", true, false});
  EXPECT_EQ((*parts)[0]["content"], Json::parse(R"([{"type":"text","text":"a"}])"));
}

TEST(ChatMessages, RefusesMediaNamingModelAndPart) {
  const std::string fault = fault_of(R"([{"role":"user","content":[{"type":"text","text":"?"},
                   {"type":"image_url","image_url":{"url":"data:image/png;base64,x"}}]}])");
  EXPECT_THAT(fault, HasSubstr("messages[0].content[1]"));
  EXPECT_THAT(fault, HasSubstr("image_url"));
  EXPECT_THAT(fault, HasSubstr("smol"));
  EXPECT_THAT(fault_of(R"([{"role":"user","content":[{"input_audio":{}}]}])"), HasSubstr("input_audio"));
  EXPECT_THAT(fault_of(R"([{"role":"user","content":[{"type":"hologram"}]}])"), HasSubstr("hologram"));
}

TEST(ChatMessages, KnowsRoles) {
  EXPECT_THAT(fault_of(R"([{"role":"king","content":"x"}])"), HasSubstr("messages[0].role must be one of"));
  EXPECT_THAT(fault_of(R"([{"content":"x"}])"), HasSubstr("messages[0].role"));
  EXPECT_EQ((*normalise(R"([{"role":"developer","content":"x"}])"))[0]["role"], "developer");
  EXPECT_EQ((*normalise(R"([{"role":"developer","content":"x"}])", {"m", false, true}))[0]["role"], "system");
}

TEST(ChatMessages, FaultsNameThePlace) {
  EXPECT_EQ(fault_of("[]"), "messages must hold at least one message");
  EXPECT_EQ(fault_of("{}"), "messages must be an array, not an object");
  EXPECT_EQ(fault_of("[1]"), "messages[0] must be an object, not an integer");
  EXPECT_EQ(fault_of(R"([{"role":"user"}])"), "messages[0].content is required");
  EXPECT_THAT(fault_of(R"([{"role":"user","content":7}])"),
              HasSubstr("messages[0].content must be a string"));
  EXPECT_THAT(fault_of(R"([{"role":"user","content":"x","name":7}])"), HasSubstr("messages[0].name"));
}

TEST(ChatMessages, ParsesToolCallArguments) {
  const auto out = normalise(R"([{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",
      "function":{"name":"f","arguments":"{\"city\":\"Oslo\"}"}}]},
      {"role":"tool","tool_call_id":"1","content":"rain"}])");
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ((*out)[0]["tool_calls"][0]["function"]["arguments"]["city"], "Oslo");
  EXPECT_EQ((*out)[0]["content"], "");
  EXPECT_EQ((*out)[1]["tool_call_id"], "1");
  EXPECT_THAT(fault_of(R"([{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{"}}]}])"),
              HasSubstr("messages[0].tool_calls[0].function.arguments is not JSON"));
}

TEST(ChatMessages, GivesReasoningBothNames) {
  const auto out = normalise(R"([{"role":"assistant","content":"x","reasoning_content":"why"}])");
  EXPECT_EQ((*out)[0]["reasoning"], "why");
}

}  // namespace
}  // namespace pagoda::api
