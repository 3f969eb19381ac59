#include "text/stop_strings.h"

#include <gtest/gtest.h>

#include <random>

#include "text/tokenizer_fixtures.h"

namespace pagoda::text {
namespace {

// Tokens 0–255 are bytes, then some of several bytes, so that strings end inside of tokens.
class StopStringsTest : public testing::Test {
 protected:
  StopStringsTest() {
    fixture.add_byte_alphabet();
    for (const char* text : {"ab", "abc", "bca", "aa", "cab"}) longer.push_back(fixture.add(text));
    end = fixture.add("<|im_end|>", VocabularyFixture::kControl);
    tokenizer = std::move(*load_tokenizer(fixture.byte_level()));
  }

  struct Outcome {
    std::string sent;
    std::string text;  // all that the tokens say, whether sent or not
    std::optional<std::string> stop;
    int tokens = 0;
  };
  // What engine and api do with a stream of tokens.
  Outcome run(const std::vector<int32_t>& tokens, const StopOptions& options, bool include) {
    const auto watcher = make_stop_watcher(*tokenizer, options);
    Detokenizer detokenizer(*tokenizer, options.skip_special);
    StopFilter filter(options, include);
    Outcome outcome;
    for (const int32_t token : tokens) {
      ++outcome.tokens;
      outcome.stop = watcher->accept(token);
      const std::string piece = detokenizer.accept(token);
      outcome.text += piece;
      outcome.sent += filter.accept(piece, outcome.tokens);
      EXPECT_TRUE(outcome.text.starts_with(outcome.sent));
      if (outcome.stop) break;
    }
    const std::string rest = outcome.stop ? std::string() : detokenizer.flush();
    outcome.text += rest;
    outcome.sent += filter.accept(rest, outcome.tokens);
    outcome.sent += filter.finish(outcome.stop);
    return outcome;
  }
  std::vector<int32_t> bytes(std::string_view text) {
    std::vector<int32_t> tokens;
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return tokens;
  }

  VocabularyFixture fixture;
  std::vector<int32_t> longer;
  int32_t end = -1;
  std::unique_ptr<Tokenizer> tokenizer;
};

TEST_F(StopStringsTest, CutsBeforeTheStopString) {
  const Outcome outcome = run(bytes("hello STOP world"), {{"STOP", "never"}, 0, true}, false);
  EXPECT_EQ(outcome.stop, "STOP");
  EXPECT_EQ(outcome.sent, "hello ");
  EXPECT_EQ(outcome.tokens, 10);
}

TEST_F(StopStringsTest, KeepsTheStopStringWhereAskedForButNothingBehind) {
  std::vector<int32_t> tokens = bytes("x");
  tokens.push_back(longer[2]);  // "bca": the stop string ends in its midst
  EXPECT_EQ(run(tokens, {{"bc"}, 0, true}, true).sent, "xbc");
  EXPECT_EQ(run(tokens, {{"bc"}, 0, true}, false).sent, "x");
}

TEST_F(StopStringsTest, WhatOnlyLooksLikeOneIsSentInTheEnd) {
  EXPECT_EQ(run(bytes("hello STO"), {{"STOP"}, 0, true}, false).sent, "hello STO");
  EXPECT_EQ(run(bytes("STSTOX"), {{"STOP"}, 0, true}, false).sent, "STSTOX");
}

TEST_F(StopStringsTest, HoldsBackOnlyWhatMayBecomeOne) {
  StopFilter filter({{"STOP"}, 0, true}, false);
  EXPECT_EQ(filter.accept("a ST", 1), "a ");
  EXPECT_EQ(filter.accept("S", 2), "ST");
  EXPECT_EQ(filter.accept("x", 3), "Sx");
  EXPECT_EQ(filter.finish(std::nullopt), "");
}

TEST_F(StopStringsTest, MinTokensLetsEarlyMatchesPass) {
  const Outcome outcome = run(bytes("aaaa"), {{"aa"}, 4, true}, false);
  EXPECT_EQ(outcome.tokens, 4);
  EXPECT_EQ(outcome.sent, "aa");
  EXPECT_EQ(run(bytes("aaaa"), {{"aa"}, 2, true}, false).tokens, 2);
}

TEST_F(StopStringsTest, SpecialTokensAreTextOnlyWhereTheyAreShown) {
  std::vector<int32_t> tokens = bytes("a");
  tokens.push_back(end);
  EXPECT_EQ(run(tokens, {{"<|im_end|>"}, 0, false}, false).stop, "<|im_end|>");
  EXPECT_EQ(run(tokens, {{"<|im_end|>"}, 0, true}, false).stop, std::nullopt);
}

// The first completion wins and of equal ones the longest; told here in the plainest way.
std::optional<std::pair<size_t, std::string>> first_match(const std::string& text, size_t from_byte,
                                                          const std::vector<std::string>& strings) {
  for (size_t stop = 1; stop <= text.size(); ++stop) {
    std::optional<std::string> best;
    for (const std::string& string : strings) {
      const bool ends_here =
          stop >= string.size() && text.compare(stop - string.size(), string.size(), string) == 0;
      if (ends_here && (!best || string.size() > best->size())) best = string;
    }
    if (best && stop > from_byte) return std::pair{stop, *best};
  }
  return std::nullopt;
}

TEST_F(StopStringsTest, WatcherAndFilterAgreeOnRandomStreams) {
  std::mt19937 random(11);
  const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int round = 0; round < 4000; ++round) {
    StopOptions options;
    for (size_t i = 0; i <= pick(3); ++i) {
      std::string string;
      for (size_t n = 0; n <= pick(4); ++n) string += "abc"[pick(3)];
      options.strings.push_back(pick(5) == 0 ? "é" : string);
    }
    options.min_tokens = static_cast<int>(pick(8));
    std::vector<int32_t> tokens;
    for (int i = 0; i < 20; ++i) {
      const int32_t noise[] = {'a', 'b', 'c', 0xC3, 0xA9, 0xF0, 0xFF, end};
      tokens.push_back(pick(3) == 0 ? longer[pick(longer.size())] : noise[pick(8)]);
    }
    const bool include = pick(2) == 0;
    const Outcome outcome = run(tokens, options, include);
    // Bytes that tokens before the min_tokens-th made cannot complete a match.
    Detokenizer detokenizer(*tokenizer, true);
    size_t free_bytes = 0;
    for (int i = 0; i + 1 < options.min_tokens && i < outcome.tokens; ++i) {
      free_bytes += detokenizer.accept(tokens[static_cast<size_t>(i)]).size();
    }
    const auto expected = first_match(outcome.text, free_bytes, options.strings);
    ASSERT_EQ(outcome.stop.has_value(), expected.has_value()) << outcome.text;
    if (!expected) {
      ASSERT_EQ(outcome.sent, outcome.text);
      continue;
    }
    const auto& [stop, string] = *expected;
    ASSERT_EQ(*outcome.stop, string);
    ASSERT_EQ(outcome.sent, outcome.text.substr(0, include ? stop : stop - string.size()));
  }
}

TEST_F(StopStringsTest, DetokenizerNeverGivesHalfACharacter) {
  Detokenizer detokenizer(*tokenizer, true);
  EXPECT_EQ(detokenizer.accept(0xF0), "");
  EXPECT_EQ(detokenizer.accept(0x9F), "");
  EXPECT_EQ(detokenizer.accept(0x98), "");
  EXPECT_EQ(detokenizer.accept(0x80), "😀");
  EXPECT_EQ(detokenizer.accept(0xC3), "");
  EXPECT_EQ(detokenizer.accept('a'),
            "\xEF\xBF\xBD"
            "a");
  EXPECT_EQ(detokenizer.accept(0xE4), "");
  EXPECT_EQ(detokenizer.flush(), "\xEF\xBF\xBD");
  EXPECT_EQ(detokenizer.flush(), "");
  EXPECT_EQ(detokenizer.accept(end), "");
}

}  // namespace
}  // namespace pagoda::text
