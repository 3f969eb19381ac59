#include "app/boxed_tree.h"

#include <gmock/gmock.h>

namespace pagoda::app {
namespace {

const BoxedTree kTree{{"GROUPS", std::string("1 group found.")},
                      {{"Groups", {}, {{"2", {"one two three four five six"}, {{"ID", {"a", "b"}, {}}}}}}}};

TEST(BoxedTree, IsDrawnAsDcgmiDrawsIt) {
  EXPECT_EQ(as_box(kTree, 20, 20),
            "+-------------------+------------------+\n"
            "| GROUPS                               |\n"
            "| 1 group found.                       |\n"
            "+===================+==================+\n"
            "| Groups            |                  |\n"
            "| -> 2              | one two three    |\n"
            "|                   | four five six    |\n"
            "|    -> ID          | a                |\n"
            "|                   | b                |\n"
            "+-------------------+------------------+\n");
}

TEST(BoxedTree, AsJson) {
  EXPECT_THAT(as_json(kTree), testing::HasSubstr("\"header\": [\n        \"GROUPS\""));
  EXPECT_THAT(as_json(kTree), testing::HasSubstr("\"overflow\": [\n"));
}

TEST(BoxedTree, LinesBreakBetweenWordsWhereThereAreAny) {
  EXPECT_THAT(broken_lines("abcdefgh", 3), testing::ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(broken_lines("ab cd", 5), testing::ElementsAre("ab cd"));
  EXPECT_THAT(broken_lines("ab cd", 4), testing::ElementsAre("ab", "cd"));
  EXPECT_THAT(broken_lines("", 4), testing::ElementsAre(""));
}

}  // namespace
}  // namespace pagoda::app
