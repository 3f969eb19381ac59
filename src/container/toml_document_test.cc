#include "container/toml_document.h"

#include <gmock/gmock.h>

namespace pagoda::container {
namespace {

TomlDocument parsed(std::string text) {
  return TomlDocument::parse(std::move(text)).value();
}

std::string after_set(std::string text, const TomlPath& path, const std::string& value) {
  auto document = parsed(std::move(text));
  const Status done = document.set(path, value);
  return done ? document.text() : "refused: " + done.error().message;
}

TEST(TomlDocument, ReplacesAValueAndNothingElse) {
  EXPECT_EQ(after_set("a = 1 # one\nb = [ 1,\n  2 ] # two\n", {"b"}, "[3]"), "a = 1 # one\nb = [3] # two\n");
  EXPECT_EQ(after_set("# é\nname = \"é\" # ü\n", {"name"}, "\"x\""), "# é\nname = \"x\" # ü\n");
  EXPECT_EQ(after_set("a = true\n", {"a"}, "true"), "a = true\n");
}

TEST(TomlDocument, AddsToTheSectionThatIsThere) {
  EXPECT_EQ(after_set("[a]\n  x = 1\n\n# of b\n[b]\ny = 2\n", {"a", "z"}, "3"),
            "[a]\n  x = 1\n  z = 3\n\n# of b\n[b]\ny = 2\n");
  EXPECT_EQ(after_set("[a]\nx = 1\n", {"top"}, "1"), "top = 1\n[a]\nx = 1\n");
  EXPECT_EQ(after_set("", {"a", "b.c", "d"}, "1"), "[a.\"b.c\"]\nd = 1\n");
}

TEST(TomlDocument, RefusesWhatItWouldHaveToRewrite) {
  EXPECT_THAT(after_set("a = { b = { c = 1 } }\n", {"a", "b", "d"}, "2"),
              testing::HasSubstr("without rewriting"));
  EXPECT_EQ(after_set("a = { b = { c = 1 } }\n", {"a", "b", "c"}, "2"), "a = { b = { c = 2 } }\n");
  EXPECT_THAT(after_set("a.b = 1\n", {"a", "c"}, "2"), testing::HasSubstr("without rewriting"));
}

TEST(TomlDocument, HeadersInsideTextsFoolNobody) {
  const std::string text = "x = \"\"\"\n[a]\n\"\"\"\n[b]\ny = 1\n";
  const std::string changed = after_set(text, {"a", "z"}, "1");
  // Either the right place or a refusal; never a changed text.
  EXPECT_TRUE(changed.starts_with("refused") ||
              parsed(changed).string_at({"x"}) == parsed(text).string_at({"x"}))
      << changed;
}

TEST(TomlDocument, RemovesKeysAndTables) {
  auto document = parsed("[a]\nx = 1\n[a.b]\ny = 2\n[a.b.c]\nz = 3\n\n# of d\n[d]\nw = 4\n");
  ASSERT_TRUE(document.remove({"a", "b"}));
  EXPECT_EQ(document.text(), "[a]\nx = 1\n# of d\n[d]\nw = 4\n");
  ASSERT_TRUE(document.remove({"a", "x"}));
  EXPECT_EQ(document.text(), "[a]\n# of d\n[d]\nw = 4\n");
  ASSERT_TRUE(document.remove({"absent"}));
}

TEST(TomlDocument, FaultsHaveAPlace) {
  EXPECT_THAT(TomlDocument::parse("a = 1\nb = \n").error().message, testing::StartsWith("line 2, column"));
}

}  // namespace
}  // namespace pagoda::container
