#include "app/chat_session.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "app/nearest.h"
#include "base/clock.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

constexpr std::array<std::string_view, 7> kCommands = {"help",  "system", "save", "clear",
                                                       "model", "exit",   "quit"};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

void print_commands() {
  fmt::print(stderr,
             "  /system [TEXT]  show or set the system message (- takes it away)\n"
             "  /save FILE      keep the conversation: Markdown, or JSON when the name ends in .json\n"
             "  /clear          forget it\n"
             "  /model [NAME]   show or change the model\n"
             "  /exit           or Ctrl-D\n"
             "  Ctrl-C          stops an answer\n");
}

// Speed of one answer, from its first token to its last.
class AnswerClock {
 public:
  void count_piece() {
    const TimePoint now = Clock::now();
    if (pieces_++ == 0) first_ = now;
    last_ = now;
  }
  void set_tokens(int tokens) { tokens_ = tokens; }

  std::string in_words() const {
    if (pieces_ == 0) return "no token";
    const int tokens = tokens_.value_or(pieces_);
    const double seconds = seconds_between(first_, last_);
    const std::string speed =
        tokens > 1 && seconds > 0 ? format(", {:.0f} tokens/s", (tokens - 1) / seconds) : "";
    return format("{}{} token{}{}, first after {:.0f} ms", tokens_ ? "" : "about ", tokens,
                  tokens == 1 ? "" : "s", speed, seconds_between(begin_, first_) * 1000);
  }

 private:
  TimePoint begin_ = Clock::now(), first_, last_;
  int pieces_ = 0;
  std::optional<int> tokens_;
};

}  // namespace

ChatCommand read_chat_command(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('/')) return {"", std::string(line)};
  const size_t space = std::min(line.find_first_of(" \t"), line.size());
  return {std::string(line.substr(1, space - 1)), std::string(trimmed(line.substr(space)))};
}

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) continue;
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) {
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

ChatSession::ChatSession(ChatConnection& connection, ChatRequestOptions options, bool person)
    : connection_(connection),
      options_(std::move(options)),
      person_(person),
      paint_(Paint::for_descriptor(STDERR_FILENO)) {}

void ChatSession::report(const Error& error) const {
  fmt::print(stderr, "{} {}\n", paint_(Ink::kRed, "pagoda chat:"), without_controls(error.message));
}

Status ChatSession::ask(const std::string& question) {
  history_.add("user", question);
  std::string answer;
  std::optional<std::string> finish;
  AnswerClock clock;
  const auto show = [&](const ChatEvent& event) {
    if (event.finish) finish = event.finish;
    if (event.completion_tokens) clock.set_tokens(*event.completion_tokens);
    if (event.content.empty()) return;
    clock.count_piece();
    answer += event.content;
    fmt::print("{}", person_ ? without_controls(event.content) : event.content);
    std::fflush(stdout);
  };
  const Status status = connection_.stream_answer(chat_request_body(options_, history_.messages()), show);
  if (!answer.empty()) {
    fmt::print("\n");
    std::fflush(stdout);
  }
  answer.empty() ? history_.drop_last() : history_.add("assistant", answer);
  const bool stopped = !status && status.error().code == ErrorCode::kCancelled;
  if (!status && !stopped) return status;
  if (person_) {
    const std::string_view why = stopped ? "stopped, " : finish == "length" ? "cut at the token limit, " : "";
    fmt::print(stderr, "{}\n", paint_(Ink::kDim, format("({}{})", why, clock.in_words())));
  }
  return {};
}

std::optional<std::string> ChatSession::read_line() {
  while (true) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    char bytes[4096];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count > 0) {
      unread_.append(bytes, static_cast<size_t>(count));
    } else if (count < 0 && errno == EINTR) {
      // Ctrl-C at the prompt: the terminal has dropped the line.
      fmt::print(stderr, "\n{}\n{}", paint_(Ink::kDim, "(/exit or Ctrl-D ends)"), paint_(Ink::kCyan, "> "));
    } else {
      if (unread_.empty()) return std::nullopt;
      return std::exchange(unread_, "");
    }
  }
}

bool ChatSession::run(const ChatCommand& command) {
  if (command.name == "exit" || command.name == "quit") return false;
  if (command.name == "help") {
    print_commands();
  } else if (command.name == "clear") {
    history_.clear();
  } else if (command.name == "system") {
    if (!command.argument.empty()) history_.set_system(command.argument == "-" ? "" : command.argument);
    fmt::print(stderr, "system: {}\n", history_.system().empty() ? "(none)" : history_.system());
  } else if (command.name == "model") {
    if (!command.argument.empty()) options_.model = command.argument;
    fmt::print(stderr, "model: {}\n", options_.model);
  } else if (command.name == "save") {
    if (command.argument.empty()) {
      fmt::print(stderr, "/save needs a file's name\n");
    } else if (const Status saved = history_.save(command.argument); !saved) {
      report(saved.error());
    } else {
      fmt::print(stderr, "saved to {}\n", command.argument);
    }
  } else {
    const auto close = nearest(command.name, kCommands);
    fmt::print(stderr, "no command /{}; {}\n", command.name,
               close ? format("did you mean /{}?", *close) : "/help lists them");
  }
  return true;
}

int ChatSession::converse() {
  fmt::print(
      stderr, "{}\n",
      paint_(Ink::kDim, format("{} at {}; /help lists the commands", options_.model, connection_.base())));
  while (true) {
    fmt::print(stderr, "{}", paint_(Ink::kCyan, "> "));
    const auto line = read_line();
    if (!line) break;
    const ChatCommand command = read_chat_command(*line);
    if (!command.name.empty()) {
      if (!run(command)) return 0;
    } else if (!command.argument.empty()) {
      if (const Status asked = ask(command.argument); !asked) report(asked.error());
    }
  }
  fmt::print(stderr, "\n");
  return 0;
}

}  // namespace pagoda::app
