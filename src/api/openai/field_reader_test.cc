#include "api/openai/field_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json json(std::string_view text) {
  return Json::parse(text);
}

template <class Read>
Error fault_of(std::string_view text, Read read) {
  const Json object = json(text);
  FieldReader fields(object);
  read(fields);
  EXPECT_FALSE(fields.good());
  return fields.good() ? Error{} : fields.status().error();
}

TEST(FieldReader, NullIsAbsent) {
  const Json object = json(R"({"n":null,"s":null,"b":null,"f":null,"l":null})");
  FieldReader fields(object);
  EXPECT_EQ(fields.integer_or("n", 7, {0, 9}), 7);
  EXPECT_EQ(fields.string("s"), std::nullopt);
  EXPECT_TRUE(fields.boolean_or("b", true));
  EXPECT_EQ(fields.number_or("f", 0.5f, {0, 1}), 0.5f);
  EXPECT_THAT(fields.strings("l", true), IsEmpty());
  EXPECT_TRUE(fields.good());
}

TEST(FieldReader, FaultsNameFieldRangeAndValue) {
  const Error range = fault_of(R"({"n":0})", [](FieldReader& f) { f.integer("n", {1, 128}); });
  EXPECT_EQ(range.message, "n must be an integer from 1 to 128, got 0");
  EXPECT_EQ(range.param, "n");
  EXPECT_EQ(fault_of(R"({"top_p":-1})",
                     [](FieldReader& f) {
                       f.number("top_p", {0, 1, true});
                     })
                .message,
            "top_p must be a number greater than 0 and at most 1, got -1");
  EXPECT_EQ(fault_of(R"({"n":"16"})",
                     [](FieldReader& f) {
                       f.integer("n", {1, 128});
                     })
                .message,
            "n must be an integer from 1 to 128, not a string");
  const auto any_integer = [](FieldReader& f) { f.integer("k", {-1, 2147483647}); };
  EXPECT_EQ(fault_of(R"({"k":-2})", any_integer).message, "k must be an integer of at least -1, got -2");
  EXPECT_EQ(fault_of(R"({"k":3000000000})", any_integer).message,
            "k must be an integer from -1 to 2147483647, got 3000000000");
  EXPECT_EQ(fault_of(R"({"k":1e300})", any_integer).message,
            "k must be an integer from -1 to 2147483647, got 1e+300");
  EXPECT_EQ(
      fault_of(R"({"s":true})", [](FieldReader& f) { f.boolean_or("s", false), f.string("s"); }).message,
      "s must be a string, not a boolean");
}

TEST(FieldReader, TakesWholeFloatsAsIntegersAndNoOthers) {
  const Json object = json(R"({"a":16.0})");
  FieldReader fields(object);
  EXPECT_EQ(fields.integer("a", {0, 100}), 16);
  for (const char* body :
       {R"({"a":1.5})", R"({"a":1e300})", R"({"a":18446744073709551615})", R"({"a":true})"}) {
    fault_of(body, [](FieldReader& f) { f.integer("a", {INT64_MIN, INT64_MAX}); });
  }
}

TEST(FieldReader, KeepsTheFirstFault) {
  EXPECT_EQ(fault_of(R"({"a":-1,"b":-1})",
                     [](FieldReader& f) {
                       f.integer("a", {0, 1});
                       f.integer("b", {0, 1});
                     })
                .param,
            "a");
}

TEST(FieldReader, ReadsOneStringOrMany) {
  const Json object = json(R"({"one":"x","many":["a","b"]})");
  FieldReader fields(object);
  EXPECT_THAT(fields.strings("one", true), ElementsAre("x"));
  EXPECT_THAT(fields.strings("many", true), ElementsAre("a", "b"));
  fault_of(R"({"one":"x"})", [](FieldReader& f) { f.strings("one", false); });
  fault_of(R"({"one":["x",1]})", [](FieldReader& f) { f.strings("one", true); });
}

TEST(FieldReader, TokenIdsAreOfTheVocabulary) {
  const Json object = json(R"({"ids":[0,9]})");
  FieldReader fields(object);
  EXPECT_THAT(fields.token_ids("ids", 10), ElementsAre(0, 9));
  const Error error = fault_of(R"({"ids":[0,10]})", [](FieldReader& f) { f.token_ids("ids", 10); });
  EXPECT_EQ(error.message, "ids holds token id 10, which is out of vocabulary (0 to 9)");
  fault_of(R"({"ids":["x"]})", [](FieldReader& f) { f.token_ids("ids", 10); });
  fault_of(R"({"ids":[-1]})", [](FieldReader& f) { f.token_ids("ids", 10); });
}

}  // namespace
}  // namespace pagoda::api
