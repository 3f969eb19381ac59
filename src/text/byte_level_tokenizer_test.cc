#include "text/byte_level_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "text/tokenizer_fixtures.h"

namespace pagoda::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr EncodeOptions kText{false, true};

std::unique_ptr<Tokenizer> load(const model::WeightMetadata& metadata) {
  auto tokenizer = load_tokenizer(metadata);
  EXPECT_TRUE(tokenizer) << (tokenizer ? "" : tokenizer.error().message);
  return std::move(*tokenizer);
}

TEST(ByteLevelTokenizer, MergesByRankLeftmostFirst) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  const int32_t ab = fixture.add_merged("a b"), bc = fixture.add_merged("b c");
  const int32_t aa = fixture.add_merged("a a"), abc = fixture.add_merged("ab c");
  const auto tokenizer = load(fixture.byte_level());
  EXPECT_THAT(tokenizer->encode("abc", kText), ElementsAre(abc));
  EXPECT_THAT(tokenizer->encode("bc", kText), ElementsAre(bc));
  EXPECT_THAT(tokenizer->encode("aaa", kText), ElementsAre(aa, 'a'));
  EXPECT_THAT(tokenizer->encode("aab", kText), ElementsAre('a', ab));
}

TEST(ByteLevelTokenizer, LongWordsMergeAsShortOnes) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  for (const char* merge : {"a b", "b a", "ab ab", "ba b", "abab a", "b b", "bb a"})
    fixture.add_merged(merge);
  const auto tokenizer = load(fixture.byte_level());
  std::mt19937 random(7);
  // A word of 40 letters is merged by scanning, the same one inside of a longer one by the heap: letters that
  // take part in no merge keep the halves apart.
  for (int round = 0; round < 200; ++round) {
    std::string word;
    for (int i = 0; i < 40; ++i) word += "ab"[random() % 2];
    auto expected = tokenizer->encode(word, kText);
    const size_t alone = expected.size();
    const auto twice = tokenizer->encode(word + "z" + word, kText);
    ASSERT_EQ(twice.size(), 2 * alone + 1);
    expected.push_back('z');
    for (size_t i = 0; i < alone; ++i) expected.push_back(expected[i]);
    EXPECT_EQ(twice, expected) << word;
  }
}

TEST(ByteLevelTokenizer, CutsWordsAsThePreTokenizerSays) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  const int32_t twelve = fixture.add_merged("1 2");
  const int32_t space_a = fixture.add_merged("\xC4\xA0 a");
  EXPECT_THAT(load(fixture.byte_level("gpt-2"))->encode("12 a", kText), ElementsAre(twelve, space_a));
  EXPECT_THAT(load(fixture.byte_level("smollm"))->encode("12 a", kText), ElementsAre('1', '2', space_a));
}

TEST(ByteLevelTokenizer, WholeWordsComeBeforeMergesWhereTheRuleSaysSo) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  const int32_t ab = fixture.add_merged("a b");
  const int32_t abc = fixture.add("abc");  // no merge leads to it
  EXPECT_THAT(load(fixture.byte_level("gpt-2"))->encode("abc", kText), ElementsAre(ab, 'c'));
  fixture.set("tokenizer.ggml.add_bos_token", false);
  EXPECT_THAT(load(fixture.byte_level("llama-bpe"))->encode("abc", kText), ElementsAre(abc));
}

TEST(ByteLevelTokenizer, AddedTokensComeFirstAndTheLongestWins) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  const int32_t end = fixture.add("<|end|>", VocabularyFixture::kControl);
  const int32_t ender = fixture.add("<|end|>er", VocabularyFixture::kControl);
  const int32_t tag = fixture.add("<b>", VocabularyFixture::kUserDefined);
  const auto tokenizer = load(fixture.byte_level());
  EXPECT_THAT(tokenizer->encode("x<|end|>er<b><|end|>", kText), ElementsAre('x', ender, tag, end));
  const auto plain = tokenizer->encode("<|end|><b>", {false, false});
  EXPECT_EQ(plain.size(), 8u);
  EXPECT_EQ(plain.back(), tag);
  EXPECT_EQ(tokenizer->find("<|end|>"), end);
  EXPECT_TRUE(tokenizer->is_special(end));
}

TEST(ByteLevelTokenizer, BrokenUtf8RoundTrips) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  fixture.add_merged("\xC3\x83 \xC2\xA9");  // the two bytes of é
  const auto tokenizer = load(fixture.byte_level("llama-bpe"));
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string bytes;
    for (int i = 0; i < 30; ++i) bytes += static_cast<char>(random() % 256);
    if (round % 2 == 0) bytes.insert(10, "é ok ");
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(bytes, kText), false), bytes);
  }
}

TEST(ByteLevelTokenizer, NormalFormCForTheModelsThatWantIt) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  const std::string decomposed = "e\xCC\x81";
  EXPECT_THAT(load(fixture.byte_level("qwen2"))->encode(decomposed, kText), ElementsAre(0xC3, 0xA9));
  EXPECT_EQ(load(fixture.byte_level("gpt-2"))->encode(decomposed, kText).size(), 3u);
}

TEST(ByteLevelTokenizer, ManyMarksTakeLinearTime) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  const auto tokenizer = load(fixture.byte_level("qwen2"));
  std::string marks = "a";
  for (int i = 0; i < 200000; ++i) marks += i % 2 == 0 ? "\xCC\x81" : "\xCC\xA3";  // classes 230 and 220
  EXPECT_GT(tokenizer->encode(marks, kText).size(), 100000u);
}

TEST(ByteLevelTokenizer, BosAndEosWhereTheMetadataWantsThem) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  const int32_t bos = fixture.add("<s>", VocabularyFixture::kControl);
  fixture.set("tokenizer.ggml.bos_token_id", uint64_t{256});
  fixture.set("tokenizer.ggml.eos_token_id", uint64_t{256});
  fixture.set("tokenizer.ggml.add_bos_token", true);
  fixture.set("tokenizer.ggml.add_eos_token", true);
  const auto tokenizer = load(fixture.byte_level());
  EXPECT_TRUE(tokenizer->adds_bos());
  EXPECT_THAT(tokenizer->encode("a", {}), ElementsAre(bos, 'a', bos));
  EXPECT_THAT(tokenizer->encode("", kText), ElementsAre());
  EXPECT_EQ(tokenizer->decode(std::vector<int32_t>{bos, 'a'}, true), "a");
}

TEST(ByteLevelTokenizer, EndTokensByKeyAndByName) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  const int32_t eos = fixture.add("</x>", VocabularyFixture::kControl);
  const int32_t im_end = fixture.add("<|im_end|>");  // marked as an ordinary token by mistake
  const int32_t tag = fixture.add("</s>", VocabularyFixture::kUserDefined);
  fixture.set("tokenizer.ggml.eos_token_id", uint64_t{256});
  const auto tokenizer = load(fixture.byte_level());
  EXPECT_THAT(tokenizer->end_tokens(), ElementsAre(eos, im_end));
  EXPECT_TRUE(tokenizer->is_special(im_end));
  EXPECT_FALSE(tokenizer->is_special(tag));
}

TEST(ByteLevelTokenizer, ThreadsShareOneTokenizer) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  for (const char* merge : {"a b", "ab c", "c d", "e f"}) fixture.add_merged(merge);
  const auto tokenizer = load(fixture.byte_level());
  const auto expected = load(fixture.byte_level())->encode("abc cd ef abcd", kText);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round)
        EXPECT_EQ(tokenizer->encode("abc cd ef abcd", kText), expected);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(LoadTokenizer, NamesWhatIsWrong) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  EXPECT_THAT(load_tokenizer(fixture.byte_level("gpt-99")).error().message,
              testing::AllOf(HasSubstr("tokenizer.ggml.pre"), HasSubstr("gpt-99"), HasSubstr("smollm")));
  fixture.byte_level();
  fixture.set("tokenizer.ggml.eos_token_id", uint64_t{999});
  EXPECT_THAT(load_tokenizer(fixture.byte_level()).error().message, HasSubstr("tokenizer.ggml.eos_token_id"));
  fixture.set("tokenizer.ggml.model", std::string_view("wordpiece"));
  model::WeightMetadata other;
  EXPECT_THAT(load_tokenizer(other).error().message, HasSubstr("tokenizer.ggml.model is missing"));
  other.set("tokenizer.ggml.model", std::string_view("bert"));
  EXPECT_THAT(load_tokenizer(other).error().message, HasSubstr("gpt2, llama"));
  other.set("tokenizer.ggml.model", std::string_view("gpt2"));
  EXPECT_THAT(load_tokenizer(other).error().message, HasSubstr("tokenizer.ggml.tokens"));
}

TEST(LoadTokenizer, RefusesListsThatDoNotFitEachOther) {
  VocabularyFixture fixture;
  fixture.add_byte_alphabet();
  model::WeightMetadata metadata = fixture.byte_level();
  metadata.set("tokenizer.ggml.token_type", std::vector<int64_t>{1, 2});
  EXPECT_THAT(load_tokenizer(metadata).error().message, HasSubstr("tokenizer.ggml.token_type has 2 entries"));
  metadata.set("tokenizer.ggml.token_type", std::vector<int64_t>(256, 77));
  EXPECT_THAT(load_tokenizer(metadata).error().message, HasSubstr("type 77"));
}

}  // namespace
}  // namespace pagoda::text
