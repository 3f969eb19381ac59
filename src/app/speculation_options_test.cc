#include "app/speculation_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::app {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& json) {
  SpeculationOptions options;
  const std::vector<std::string> values{json};
  const Status status = to_speculation(&options)(values);
  if (!status) return status.error().message;
  const Status checked = check_speculation(options);
  return checked ? "" : checked.error().message;
}

TEST(SpeculationOptions, TakesTheKeysOfTheJsonObject) {
  SpeculationOptions options;
  const std::vector<std::string> values{
      R"({"method":"ngram","num_speculative_tokens":5,"prompt_lookup_min":3,"prompt_lookup_max":4,"disable_by_batch_size":0})"};
  ASSERT_TRUE(to_speculation(&options)(values));
  EXPECT_EQ(options.method, SpeculationOptions::Method::kNgram);
  EXPECT_EQ(options.tokens, 5);
  EXPECT_EQ(options.shortest, 3);
  EXPECT_EQ(options.longest, 4);
  EXPECT_EQ(options.most_running, 0);
}

TEST(SpeculationOptions, NamesWhatItDoesNotTake) {
  EXPECT_THAT(error_of("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of("{}"), HasSubstr("\"method\" is missing"));
  EXPECT_THAT(error_of(R"({"method":"eagle"})"),
              HasSubstr("'eagle' is not in this version yet; ngram and draft_model are"));
  EXPECT_THAT(error_of(R"({"method":7})"), HasSubstr("\"method\" takes a name, got 7"));
  EXPECT_THAT(error_of(R"({"method":"ngram","num_speculative_tokens":0})"), HasSubstr("from 1 to 64, got 0"));
  EXPECT_THAT(error_of(R"({"method":"ngram","num_speculative_tokens":"4"})"), HasSubstr("got \"4\""));
  EXPECT_THAT(error_of(R"({"method":"ngram","tokens":4})"), HasSubstr("unknown key \"tokens\""));
  EXPECT_THAT(error_of(R"({"method":"ngram","prompt_lookup_min":5,"prompt_lookup_max":4})"),
              HasSubstr("prompt_lookup_min 5 is more than prompt_lookup_max 4"));
}

TEST(SpeculationOptions, NumbersNeedAMethod) {
  SpeculationOptions options;
  EXPECT_TRUE(check_speculation(options));
  options.tokens = 3;
  EXPECT_FALSE(check_speculation(options));
  const std::vector<std::string> values{"[ngram]"};
  ASSERT_TRUE(to_speculative_model(&options)(values));
  EXPECT_TRUE(check_speculation(options));
  EXPECT_EQ(options.method, SpeculationOptions::Method::kNgram);
}

TEST(SpeculationOptions, AModelGuessesToo) {
  SpeculationOptions options;
  std::vector<std::string> values{R"({"model":"/models/small","num_speculative_tokens":3})"};
  ASSERT_TRUE(to_speculation(&options)(values));
  EXPECT_EQ(options.method, SpeculationOptions::Method::kModel);
  EXPECT_EQ(options.model, "/models/small");
  EXPECT_THAT(error_of(R"({"method":"draft_model"})"), HasSubstr("needs a \"model\""));
  EXPECT_THAT(error_of(R"({"method":"ngram","model":"/models/small"})"), HasSubstr("takes no model"));
}

TEST(SpeculationOptions, LengthsFollowEachOther) {
  SpeculationOptions options;
  EXPECT_EQ(ngram_lengths(options).shortest, 2);
  EXPECT_EQ(ngram_lengths(options).longest, 5);
  options.longest = 1;
  EXPECT_EQ(ngram_lengths(options).shortest, 1);
  options = {};
  options.shortest = 7;
  EXPECT_EQ(ngram_lengths(options).longest, 7);
}

}  // namespace
}  // namespace pagoda::app
