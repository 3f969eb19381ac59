#include "text/sentence_piece_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "text/tokenizer_fixtures.h"

namespace pagoda::text {
namespace {

using testing::ElementsAre;

constexpr EncodeOptions kText{false, true};
constexpr auto kUserDefined = VocabularyFixture::kUserDefined;

class SentencePieceTokenizerTest : public testing::Test {
 protected:
  SentencePieceTokenizerTest() {
    unknown = fixture.add("<unk>", VocabularyFixture::kUnknown);
    fixture.add("<s>", VocabularyFixture::kControl);
    fixture.add("</s>", VocabularyFixture::kControl);
    for (int byte = 0; byte < 256; ++byte) fixture.add(format("<0x{:02X}>", byte), VocabularyFixture::kByte);
    double score = -100;
    for (const char* character : {"▁", "a", "b", "c", "é"})
      fixture.add(character, VocabularyFixture::kNormal, --score);
  }
  std::unique_ptr<Tokenizer> load(bool space_prefix) {
    fixture.set("tokenizer.ggml.add_space_prefix", space_prefix);
    auto tokenizer = load_tokenizer(fixture.sentence_piece());
    EXPECT_TRUE(tokenizer) << (tokenizer ? "" : tokenizer.error().message);
    return std::move(*tokenizer);
  }
  int32_t id(const Tokenizer& tokenizer, std::string_view piece) { return tokenizer.find(piece); }

  VocabularyFixture fixture;
  int32_t unknown = -1;
};

TEST_F(SentencePieceTokenizerTest, MergesByScore) {
  const int32_t ab = fixture.add("ab", VocabularyFixture::kNormal, -2);
  const int32_t bc = fixture.add("bc", VocabularyFixture::kNormal, -1);
  const auto tokenizer = load(false);
  EXPECT_THAT(tokenizer->encode("abc", kText), ElementsAre(id(*tokenizer, "a"), bc));
  EXPECT_THAT(tokenizer->encode("abab", kText), ElementsAre(ab, ab));
}

TEST_F(SentencePieceTokenizerTest, SpacePrefixIsAddedAndTakenAway) {
  const int32_t space_a = fixture.add("▁a", VocabularyFixture::kNormal, -1);
  const auto with = load(true), without = load(false);
  EXPECT_THAT(with->encode("a a", kText), ElementsAre(space_a, space_a));
  EXPECT_EQ(with->decode(with->encode("a a", kText), true), "a a");
  EXPECT_THAT(without->encode("a a", kText), ElementsAre(id(*without, "a"), space_a));
  EXPECT_EQ(without->decode(without->encode("a a", kText), true), "a a");
  EXPECT_EQ(with->piece(space_a), " a");
}

TEST_F(SentencePieceTokenizerTest, UnknownCharactersFallBackToBytes) {
  const auto tokenizer = load(false);
  const auto ids = tokenizer->encode("中", kText);
  EXPECT_THAT(ids, ElementsAre(3 + 0xE4, 3 + 0xB8, 3 + 0xAD));
  EXPECT_EQ(tokenizer->decode(ids, true), "中");
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("\xFF\xC3", kText), true), "\xFF\xC3");
  EXPECT_EQ(tokenizer->encode("<0x41>", kText).size(), 6u) << "a byte token's name is plain text";
}

TEST_F(SentencePieceTokenizerTest, RunsOfUserDefinedSpacesAreTheLongest) {
  const int32_t two = fixture.add("  ", kUserDefined, -1000), three = fixture.add("   ", kUserDefined, -1000);
  const int32_t line = fixture.add("\n\n", kUserDefined, -1000);
  const auto tokenizer = load(false);
  const int32_t one = id(*tokenizer, " "), a = id(*tokenizer, "a");
  EXPECT_THAT(tokenizer->encode("     a", kText), ElementsAre(three, two, a));
  EXPECT_THAT(tokenizer->encode("    a", {false, false}), ElementsAre(three, one, a));
  EXPECT_THAT(tokenizer->encode("\n\na", {false, false}), ElementsAre(line, a));
}

TEST_F(SentencePieceTokenizerTest, SpecialTextIsPlainWhereAskedFor) {
  fixture.set("tokenizer.ggml.add_bos_token", true);
  const auto tokenizer = load(false);
  EXPECT_THAT(tokenizer->encode("</s>a", {}), ElementsAre(1, 2, id(*tokenizer, "a")));
  EXPECT_EQ(tokenizer->encode("</s>", {false, false}).size(), 4u);
  EXPECT_THAT(tokenizer->end_tokens(), ElementsAre(2));
}

TEST_F(SentencePieceTokenizerTest, AMegabyteWithoutSpacesIsQuick) {
  fixture.add("ab", VocabularyFixture::kNormal, -2);
  fixture.add("abab", VocabularyFixture::kNormal, -1);
  const auto tokenizer = load(true);
  std::string text;
  while (text.size() < 1'000'000) text += "ab";
  EXPECT_EQ(tokenizer->encode(text, kText).size(), 250'001u);
}

}  // namespace
}  // namespace pagoda::text
