// The conversation at the terminal: reads lines, runs commands, shows answers as they come.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/chat_connection.h"
#include "app/chat_history.h"
#include "app/terminal.h"

namespace pagoda::app {

// What a line at the prompt is.
struct ChatCommand {
  std::string name;      // "help"; empty: the line is a message
  std::string argument;  // the rest of the line, trimmed
};
ChatCommand read_chat_command(std::string_view line);

// Model output is a stranger's text: without the control characters that could drive a terminal (all of C0
// but newline and tab, DEL, and C1). UTF-8 in, UTF-8 out.
std::string without_controls(std::string_view text);

class ChatSession {
 public:
  // Writes to `out` (answers) and stderr (everything else). With `person` the out is a terminal that somebody
  // reads.
  ChatSession(ChatConnection& connection, ChatRequestOptions options, bool person);

  ChatHistory& history() { return history_; }

  // Asks, and shows the answer. An answer that was stopped stays in the history as far as it came.
  Status ask(const std::string& question);
  // Until /exit or the end of input.
  int converse();

 private:
  std::optional<std::string> read_line();
  // False: the conversation is over.
  bool run(const ChatCommand& command);
  void report(const Error& error) const;

  ChatConnection& connection_;
  ChatRequestOptions options_;
  bool person_;
  Paint paint_;
  ChatHistory history_;
  std::string unread_;  // input after the last whole line
};

}  // namespace pagoda::app
