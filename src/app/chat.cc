#include "app/chat.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <vector>

#include "app/chat_session.h"
#include "app/flag_help.h"
#include "app/flag_values.h"
#include "app/flags.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

struct ChatOptions {
  std::string url = "http://127.0.0.1:8000";
  std::string model;
  std::string system;
  std::string once;
  std::string api_key;
  int max_tokens = 0;       // 0: the server's default
  double temperature = -1;  // negative: the server's default
};

Flag flag(std::string_view name, std::string_view value_name, Setter set, std::string help,
          std::vector<std::string_view> aliases = {}) {
  Flag row;
  row.name = name;
  row.aliases = std::move(aliases);
  row.group = "Flags";
  row.value_name = value_name;
  row.set = std::move(set);
  row.help = std::move(help);
  return row;
}

// The aliases are those of `vllm chat`.
FlagTable chat_flag_table(ChatOptions& o) {
  FlagTable table;
  table.usage = "pagoda chat [flags]";
  table.summary =
      "A conversation with any OpenAI-compatible server. From a pipe: the whole input is one question.";
  table.examples = {
      {"pagoda chat", "with the server on this machine"},
      {"pagoda chat --once \"What is a pagoda?\"", "one question, the answer on standard output"},
      {"git diff | pagoda chat --system \"Review this change.\"", "a question from a pipe"},
  };
  table.flags = {
      flag("url", "URL", to_text(&o.url), "the server's address (default: http://127.0.0.1:8000)"),
      flag("model", "NAME", to_text(&o.model), "default: the first that the server lists", {"model-name"}),
      flag("system", "TEXT", to_text(&o.system), "the system message", {"system-prompt"}),
      flag("once", "TEXT", to_text(&o.once), "ask this, print the answer, end", {"q", "quick"}),
      flag("api-key", "KEY", to_text(&o.api_key), "default: $PAGODA_API_KEY, $VLLM_API_KEY"),
      flag("max-tokens", "N", to_integer(&o.max_tokens, {1, 1 << 24}),
           "of an answer (default: the server's)"),
      flag("temperature", "T", to_number(&o.temperature, {.min = 0, .max = 2}),
           "0 always takes the likeliest token (default: the server's)"),
  };
  return table;
}

std::string key_of_environment() {
  for (const char* name : {"PAGODA_API_KEY", "VLLM_API_KEY"}) {
    if (const char* key = std::getenv(name); key != nullptr && *key != '\0') return key;
  }
  return {};
}

ChatConnection* g_connection = nullptr;  // whose answer Ctrl-C stops

// No SA_RESTART: a read at the prompt must come back.
void stop_answers_on_interrupt(ChatConnection& connection) {
  g_connection = &connection;
  struct sigaction action = {};
  action.sa_handler = [](int) { g_connection->cancel(); };
  ::sigaction(SIGINT, &action, nullptr);
}

int report(const Error& error, int exit_code) {
  const Paint paint = Paint::for_descriptor(STDERR_FILENO);
  fmt::print(stderr, "{} {}\n", paint(Ink::kRed, "pagoda chat:"), error.message);
  return exit_code;
}

int talk(const ChatOptions& options) {
  ChatConnection connection(options.url, options.api_key.empty() ? key_of_environment() : options.api_key);
  ChatRequestOptions request;
  request.model = options.model;
  if (options.max_tokens > 0) request.max_tokens = options.max_tokens;
  if (options.temperature >= 0) request.temperature = options.temperature;
  if (request.model.empty()) {
    auto first = connection.first_model();
    if (!first) return report(first.error(), kExitFailure);
    request.model = std::move(*first);
  }
  ChatSession session(connection, std::move(request), is_terminal(STDOUT_FILENO));
  session.history().set_system(options.system);
  stop_answers_on_interrupt(connection);
  std::string question = options.once;
  if (question.empty()) {
    if (is_terminal(STDIN_FILENO)) return session.converse();
    question.assign(std::istreambuf_iterator<char>(std::cin), {});
  }
  if (question.find_first_not_of(" \t\r\n") == std::string::npos) {
    return report({ErrorCode::kInvalidArgument, "nothing was asked: the input is empty", ""}, kExitUsage);
  }
  const Status asked = session.ask(question);
  return asked ? kExitOk : report(asked.error(), kExitFailure);
}

}  // namespace

int run_chat_command(const Invocation& invocation) {
  ChatOptions options;
  const FlagTable table = chat_flag_table(options);
  const auto parsed = parse_flags(table, invocation.arguments);
  if (!parsed) return report(parsed.error(), kExitUsage);
  if (parsed->help) {
    fmt::print("{}", help_text(table, *parsed->help, Paint::for_descriptor(STDOUT_FILENO),
                               terminal_width(STDOUT_FILENO)));
    return kExitOk;
  }
  return talk(options);
}

}  // namespace pagoda::app
