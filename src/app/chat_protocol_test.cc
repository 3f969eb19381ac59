#include "app/chat_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/chat_history.h"

namespace pagoda::app {
namespace {

using testing::HasSubstr;

TEST(ApiBase, TakesEveryWayToWriteAnAddress) {
  for (const char* url : {"http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", "h:1"}) {
    EXPECT_EQ(api_base(url), "http://h:1/v1") << url;
  }
  EXPECT_EQ(api_base("https://h/llm"), "https://h/llm/v1");
}

TEST(ChatRequestBody, HoldsWhatWasAsked) {
  const auto body = nlohmann::json::parse(chat_request_body(
      {.model = "m", .max_tokens = 5, .temperature = std::nullopt}, {{"user", "grüße \xff"}}));
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["max_tokens"], 5);
  EXPECT_FALSE(body.contains("temperature"));
  EXPECT_EQ(body["messages"][0]["content"], "grüße \xEF\xBF\xBD") << "bytes that are no UTF-8 are replaced";
}

TEST(ChatEvent, ReadsDeltasFinishAndUsage) {
  const auto delta = read_chat_event(R"({"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]})");
  ASSERT_TRUE(delta);
  EXPECT_EQ(delta->content, "Hi");
  EXPECT_EQ(delta->finish, std::nullopt);
  const auto end = read_chat_event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})");
  EXPECT_EQ(end->finish, "stop");
  const auto usage = read_chat_event(R"({"choices":[],"usage":{"completion_tokens":7}})");
  EXPECT_EQ(usage->completion_tokens, 7);
  EXPECT_TRUE(
      read_chat_event(R"({"choices":[{"delta":{"role":"assistant","content":null}}]})")->content.empty());
}

TEST(ChatEvent, ErrorsBringTheServersWords) {
  EXPECT_EQ(read_chat_event(R"({"error":{"message":"out of luck","code":500}})").error().message,
            "out of luck");
  EXPECT_THAT(read_chat_event("nonsense").error().message, HasSubstr("nonsense"));
  EXPECT_EQ(error_message_of(404, R"({"error":{"message":"no model x"}})"), "no model x (HTTP 404)");
  EXPECT_EQ(error_message_of(502, "<html>"), "HTTP 502: <html>");
  EXPECT_EQ(error_message_of(422, R"({"detail":"bad"})"), "bad (HTTP 422)");
}

TEST(FirstModel, OfTheList) {
  EXPECT_EQ(first_model_of(R"({"data":[{"id":"a"},{"id":"b"}]})"), "a");
  EXPECT_FALSE(first_model_of(R"({"data":[]})"));
  EXPECT_FALSE(first_model_of("[]"));
}

TEST(ChatHistory, KeepsOrderAndSaves) {
  ChatHistory history;
  history.set_system("Be brief.");
  history.add("user", "Hi");
  history.add("assistant", "Hello");
  history.add("user", "?");
  history.drop_last();
  EXPECT_EQ(history.messages().size(), 3u);
  EXPECT_EQ(history.messages()[0].role, "system");
  const std::string path = testing::TempDir() + "chat_history_test_" + std::to_string(::getpid()) + ".json";
  ASSERT_TRUE(history.save(path));
  std::ifstream file(path);
  const auto saved = nlohmann::json::parse(file);
  EXPECT_EQ(saved[2]["content"], "Hello");
  const std::string markdown = testing::TempDir() + "chat_history_test_" + std::to_string(::getpid()) + ".md";
  ASSERT_TRUE(history.save(markdown));
  std::stringstream text;
  text << std::ifstream(markdown).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("## user\n\nHi\n"));
  EXPECT_THAT(history.save("/nowhere/x").error().message, HasSubstr("cannot write /nowhere/x: No such file"));
}

}  // namespace
}  // namespace pagoda::app
