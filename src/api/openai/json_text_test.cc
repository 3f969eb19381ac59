#include "api/openai/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace pagoda::api {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}
std::string logprob(float value) {
  std::string out;
  append_json_logprob(out, value);
  return out;
}

TEST(JsonText, EscapesWhatJsonDoes) {
  EXPECT_EQ(quoted("a\"b\\c\nd\te\rf"), R"("a\"b\\c\nd\te\rf")");
  EXPECT_EQ(quoted(std::string_view("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
  EXPECT_EQ(quoted("漢字 é 😀"), "\"漢字 é 😀\"");
}

TEST(JsonText, EveryByteStringBecomesJson) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (size_t from = 0; from < bytes.size(); ++from) {
    const std::string out = quoted(std::string_view(bytes).substr(from));
    EXPECT_TRUE(nlohmann::json::accept(out)) << from;
  }
  EXPECT_EQ(quoted("a\xf0\x9f\x98z"), "\"a\xef\xbf\xbdz\"");
}

TEST(JsonText, LogprobsAreFlooredAndReadBack) {
  EXPECT_EQ(logprob(-INFINITY), "-9999.0");
  EXPECT_EQ(logprob(NAN), "-9999.0");
  EXPECT_EQ(logprob(-10000.f), "-9999.0");
  EXPECT_EQ(logprob(INFINITY), "0");
  for (float value : {-0.f, -1e-7f, -0.1f, -3.1415927f, -123.456f}) {
    EXPECT_EQ(nlohmann::json::parse(logprob(value)).get<float>(), value);
  }
}

TEST(JsonText, CountsCharacters) {
  EXPECT_EQ(count_characters(""), 0);
  EXPECT_EQ(count_characters("aé漢😀"), 4);
  EXPECT_EQ(count_characters("\xff\xff"), 2);
}

}  // namespace
}  // namespace pagoda::api
