#include "text/utf8.h"

#include <gtest/gtest.h>

namespace pagoda::text {
namespace {

TEST(Utf8, ReadsEveryLength) {
  EXPECT_EQ(first_utf8_char("a").code_point, U'a');
  EXPECT_EQ(first_utf8_char("é").code_point, U'é');
  EXPECT_EQ(first_utf8_char("中").code_point, U'中');
  EXPECT_EQ(first_utf8_char("😀").code_point, U'😀');
  EXPECT_EQ(first_utf8_char("😀").length, 4);
}

TEST(Utf8, RefusesOverlongSurrogatesAndTooHigh) {
  for (const char* broken :
       {"\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\x80"}) {
    const Utf8Char character = first_utf8_char(broken);
    EXPECT_FALSE(character.valid) << broken;
    EXPECT_FALSE(character.unfinished) << broken;
    EXPECT_EQ(character.length, 1) << broken;
  }
}

TEST(Utf8, TellsUnfinishedFromBroken) {
  EXPECT_TRUE(first_utf8_char("\xF0\x9F\x98").unfinished);
  const Utf8Char cut = first_utf8_char("\xF0\x9F\x98z");
  EXPECT_FALSE(cut.unfinished);
  EXPECT_EQ(cut.length, 3);  // the maximal subpart is one U+FFFD
}

TEST(Utf8, ValidPrefixStopsAtTheFirstBrokenCharacter) {
  EXPECT_EQ(valid_utf8_prefix("0123456789abcdefé\xFFxx"), 18u);
  EXPECT_EQ(valid_utf8_prefix("12345678"), 8u);
  EXPECT_EQ(valid_utf8_prefix(""), 0u);
  EXPECT_EQ(valid_utf8_prefix("é\xC3"), 2u);
}

TEST(Utf8, AppendIsTheInverse) {
  for (char32_t c = 1; c < 0x110000; c += 37) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string bytes;
    append_utf8(bytes, c);
    EXPECT_EQ(first_utf8_char(bytes).code_point, c);
    EXPECT_EQ(static_cast<size_t>(first_utf8_char(bytes).length), bytes.size());
  }
}

}  // namespace
}  // namespace pagoda::text
