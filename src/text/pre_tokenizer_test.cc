#include "text/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::text {
namespace {

using testing::ElementsAre;

std::vector<std::string_view> words(std::string_view rule, std::string_view text) {
  const auto pre_tokenizer = PreTokenizer::make(*find_pre_tokenizer_rule(rule));
  EXPECT_TRUE(pre_tokenizer) << (pre_tokenizer ? "" : pre_tokenizer.error().message);
  std::vector<std::string_view> out;
  pre_tokenizer->split(text, out);
  return out;
}

TEST(PreTokenizer, EveryRuleCompilesAndLosesNothing) {
  const std::string text =
      "Hello, I'LL  pay 1234567 € \n\n\tfor «中文カナ»'s 12abc\r\n  ½ é́ नमस्ते 😀!? <x>\xE2\x80\xA8 tail   ";
  for (const PreTokenizerRule& rule : pre_tokenizer_rules()) {
    std::string joined;
    for (const std::string_view word : words(rule.name, text)) {
      EXPECT_FALSE(word.empty()) << rule.name;
      joined += word;
    }
    EXPECT_EQ(joined, text) << rule.name;
  }
}

TEST(PreTokenizer, KnownCuts) {
  EXPECT_THAT(words("gpt-2", "I'll  go 12"), ElementsAre("I", "'ll", " ", " go", " 12"));
  EXPECT_THAT(words("llama-bpe", "I'LL 1234\n\nx"), ElementsAre("I", "'LL", " ", "123", "4", "\n\n", "x"));
  EXPECT_THAT(words("qwen2", "a 12"), ElementsAre("a", " ", "1", "2"));
  EXPECT_THAT(words("gpt-4o", "HelloWorld's"), ElementsAre("Hello", "World's"));
  EXPECT_THAT(words("deepseek-v3", "x中文1234"), ElementsAre("x", "中文", "123", "4"));
  EXPECT_THAT(words("tiny_aya", "1234567"), ElementsAre("1", "234", "567"));
  EXPECT_THAT(words("falcon", "a 1234"), ElementsAre("a", " ", "123", "4"));
}

TEST(PreTokenizer, CharacterClassesAreTheReferences) {
  EXPECT_THAT(words("gpt-2", "\xF0\xB1\x8D\x90\xF0\xB1\x8D\x91"),
              ElementsAre("\xF0\xB1\x8D\x90\xF0\xB1\x8D\x91"))
      << "U+31350 is a letter since Unicode 15";
  EXPECT_THAT(words("gpt-2",
                    "a\xE1\xA0\x8E"
                    "b"),
              ElementsAre("a", "\xE1\xA0\x8E", "b"))
      << "U+180E is no white space";
  EXPECT_THAT(words("llama-bpe", "x'\xC5\xBF"), ElementsAre("x", "'\xC5\xBF")) << "long s folds to s";
}

TEST(PreTokenizer, LongRunsDoNotExhaustAnything) {
  for (const PreTokenizerRule& rule : pre_tokenizer_rules()) {
    for (const char* unit : {"a", "A", " ", "1", "中", "-", "\n"}) {
      std::string text;
      while (text.size() < 30'000) text += unit;
      size_t total = 0;
      for (const std::string_view word : words(rule.name, text)) total += word.size();
      EXPECT_EQ(total, text.size()) << rule.name << " of " << unit;
    }
  }
}

}  // namespace
}  // namespace pagoda::text
