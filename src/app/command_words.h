// Subcommands that have subcommands of their own: `pagoda ctk cdi generate --output x`. A table of word
// paths.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/flags.h"
#include "app/subcommands.h"

namespace pagoda::app {

struct CommandWords {
  std::string_view words;    // "cdi generate"
  std::string_view summary;  // one line
  int (*run)(const Invocation&);
};

// Runs the row with the most words that the arguments begin with; its Invocation has the words in `program`
// and the rest as arguments. Without words, or with --help first: the list. An unknown word names the
// nearest.
int run_by_words(std::span<const CommandWords> table, std::string_view summary, const Invocation& invocation);

// Prints "PROGRAM: message" to stderr; the exit code for that kind of error.
int report_error(const Invocation& invocation, const Error& error);

// Parses, or prints help or the error. `exit`: set when the caller should return it.
struct FlagOutcome {
  ParsedFlags parsed;
  std::optional<int> exit;
};
FlagOutcome read_flags(const FlagTable& table, const Invocation& invocation);

// One row of a flag table.
Flag flag_row(std::string_view name, std::string_view value_name, Setter set, std::string help,
              std::vector<std::string_view> aliases = {});
Flag switch_row(std::string_view name, bool* field, std::string help);
Flag list_row(std::string_view name, std::string_view value_name, std::vector<std::string>* field,
              std::string help);

}  // namespace pagoda::app
