#include "text/pipeline/pipeline_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The file's text and its tokens must outlive the tokenizer.
struct Loaded {
  std::string text;
  std::vector<std::string> names;
  std::unique_ptr<Tokenizer> tokenizer;
};

Result<std::unique_ptr<Loaded>> load(const char* json, std::vector<std::string> names) {
  auto loaded = std::make_unique<Loaded>();
  loaded->text = json;
  loaded->names = std::move(names);
  model::WeightMetadata metadata;
  metadata.set("tokenizer.ggml.model", std::string_view("tokenizer.json"));
  metadata.set("tokenizer.ggml.tokens",
               std::vector<std::string_view>(loaded->names.begin(), loaded->names.end()));
  metadata.set("tokenizer.pagoda.json", std::string_view(loaded->text));
  PAGODA_ASSIGN(loaded->tokenizer, load_tokenizer(metadata));
  return loaded;
}

constexpr const char* kBert = R"({
  "added_tokens": [{"id": 0, "content": "[UNK]", "special": true, "normalized": false},
                   {"id": 1, "content": "[CLS]", "special": true, "normalized": false},
                   {"id": 2, "content": "[SEP]", "special": true, "normalized": false}],
  "normalizer": {"type": "BertNormalizer", "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {"type": "WordPiece", "unk_token": "[UNK]",
            "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "play": 3, "##ing": 4, "cafe": 5, ".": 6, "中": 7}}})";

TEST(PipelineTokenizer, ReadsBert) {
  const auto loaded = load(kBert, {"[UNK]", "[CLS]", "[SEP]", "play", "##ing", "cafe", ".", "中"});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Tokenizer& tokenizer = *(*loaded)->tokenizer;
  EXPECT_THAT(tokenizer.encode("Playing  CAFÉ.中中", {}), ElementsAre(1, 3, 4, 5, 6, 7, 7, 2));
  EXPECT_THAT(tokenizer.encode("[SEP]xyz", {.add_special = false}), ElementsAre(2, 0));
  EXPECT_THAT(tokenizer.encode("[SEP]", {.add_special = false, .parse_special = false}),
              ElementsAre(0, 0, 0));
  const TokenPair pair = tokenizer.encode_pair("play", "cafe");
  EXPECT_THAT(pair.tokens, ElementsAre(1, 3, 2, 5, 2));
  EXPECT_THAT(pair.types, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{1, 3, 4, 6, 2}, true), "playing.");
  EXPECT_EQ(tokenizer.piece(4), "ing");
  EXPECT_TRUE(tokenizer.encode("", {.add_special = false}).empty());
}

TEST(PipelineTokenizer, UnigramTakesTheMostProbableCut) {
  const auto loaded =
      load(R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "decoder": {"type": "Metaspace", "replacement": "▁"},
    "model": {"type": "Unigram", "unk_id": 0,
              "vocab": [["<unk>", 0], ["▁", -3], ["a", -2], ["b", -2], ["ab", -3.5], ["▁a", -4.5]]}})",
           {"<unk>", "▁", "a", "b", "ab", "▁a"});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Tokenizer& tokenizer = *(*loaded)->tokenizer;
  EXPECT_THAT(tokenizer.encode("ab", {}), ElementsAre(1, 4)) << "−6.5 either way: the first found stays";
  EXPECT_THAT(tokenizer.encode("a", {}), ElementsAre(5));
  EXPECT_THAT(tokenizer.encode("xyz", {}), ElementsAre(1, 0)) << "unknown characters are one token";
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{5, 3, 5}, false), "ab a");
}

TEST(PipelineTokenizer, AddedTokensKeepTheirRules) {
  const auto loaded = load(R"({"added_tokens": [
      {"id": 1, "content": "lefty", "lstrip": true}, {"id": 2, "content": "righty", "rstrip": true},
      {"id": 3, "content": "self", "single_word": true}, {"id": 4, "content": "Big", "normalized": true}],
    "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "WordLevel", "unk_token": "u", "vocab": {"u": 0, "a": 5, "myself": 6}}})",
                           {"u", "lefty", "righty", "self", "Big", "a", "myself"});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Tokenizer& tokenizer = *(*loaded)->tokenizer;
  EXPECT_THAT(tokenizer.encode("a  leftya", {}), ElementsAre(5, 1, 5));
  EXPECT_THAT(tokenizer.encode("righty  a", {}), ElementsAre(2, 5));
  EXPECT_THAT(tokenizer.encode("myself self", {}), ElementsAre(6, 3));
  EXPECT_THAT(tokenizer.encode("aBIGa", {}), ElementsAre(5, 4, 5));
}

TEST(PipelineTokenizer, NamesWhatItCannotCarryOut) {
  const auto fault = [](const char* json) { return load(json, {"u"}).error().message; };
  EXPECT_THAT(fault(R"({"normalizer": {"type": "Shuffle"}})"), HasSubstr("the normalizer is not supported"));
  EXPECT_THAT(fault(R"({"pre_tokenizer": {"type": "UnicodeScripts"}})"),
              HasSubstr("pre-tokenizer is not supported"));
  EXPECT_THAT(fault(R"({"model": {"type": "Magic"}})"),
              HasSubstr("supported are BPE, Unigram, WordPiece, WordLevel"));
  EXPECT_THAT(fault(R"({"model": {"type": "WordLevel", "unk_token": "u", "vocab": {"u": 0}},
                        "post_processor": {"type": "BertProcessing", "cls": ["x", 9], "sep": ["y", 0]}})"),
              HasSubstr("the token 9 around a text"));
}

}  // namespace
}  // namespace pagoda::text
