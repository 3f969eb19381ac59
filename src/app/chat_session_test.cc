#include "app/chat_session.h"

#include <gtest/gtest.h>

namespace pagoda::app {
namespace {

TEST(ChatCommand, TellsCommandsFromMessages) {
  EXPECT_EQ(read_chat_command("  hello there ").name, "");
  EXPECT_EQ(read_chat_command("  hello there ").argument, "hello there");
  EXPECT_EQ(read_chat_command("/system  Be brief. ").name, "system");
  EXPECT_EQ(read_chat_command("/system  Be brief. ").argument, "Be brief.");
  EXPECT_EQ(read_chat_command("/exit").name, "exit");
  EXPECT_EQ(read_chat_command("").argument, "");
}

TEST(WithoutControls, KeepsTextAndDropsWhatDrivesATerminal) {
  EXPECT_EQ(without_controls("a\tb\nçé 漢字 🙂"), "a\tb\nçé 漢字 🙂");
  EXPECT_EQ(without_controls("x\x1b[31mred\x07\r\x7f"), "x[31mred");
  EXPECT_EQ(without_controls("a\xC2\x9B"
                             "31mb"),
            "a31mb")
      << "C1's one-byte CSI, as UTF-8";
}

}  // namespace
}  // namespace pagoda::app
