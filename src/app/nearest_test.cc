#include "app/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace pagoda::app {
namespace {

TEST(EditDistance, CountsSingleEdits) {
  EXPECT_EQ(edit_distance("serve", "serve"), 0);
  EXPECT_EQ(edit_distance("serv", "serve"), 1);
  EXPECT_EQ(edit_distance("sevre", "serve"), 1) << "a swap of neighbours is one edit";
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Nearest, FindsTheMeantOneOrNothing) {
  constexpr std::array<std::string_view, 4> names = {"serve", "chat", "max-model-len", "max-num-seqs"};
  EXPECT_EQ(nearest("serv", names), "serve");
  EXPECT_EQ(nearest("caht", names), "chat");
  EXPECT_EQ(nearest("max-model-length", names), "max-model-len");
  EXPECT_EQ(nearest("frobnicate", names), std::nullopt);
  EXPECT_EQ(nearest("xy", names), std::nullopt);
}

}  // namespace
}  // namespace pagoda::app
