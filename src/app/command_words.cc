#include "app/command_words.h"

#include <unistd.h>

#include <algorithm>

#include "app/flag_help.h"
#include "app/flag_values.h"
#include "app/nearest.h"
#include "app/terminal.h"
#include "base/format.h"
#include "base/log.h"

namespace pagoda::app {
namespace {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return words;
}

bool begins_with(const std::vector<std::string>& arguments, const std::vector<std::string>& words) {
  return arguments.size() >= words.size() && std::equal(words.begin(), words.end(), arguments.begin());
}

void print_list(std::span<const CommandWords> table, std::string_view summary, const Invocation& invocation,
                std::string_view below) {
  fmt::print("Usage: {}{}{} COMMAND [flags]\n\n", invocation.program, below.empty() ? "" : " ", below);
  if (below.empty()) fmt::print("{}\n\n", summary);
  for (const auto& row : table) {
    if (!row.words.starts_with(below)) continue;
    fmt::print("  {:<32} {}\n", row.words, row.summary);
  }
  fmt::print("\n{} COMMAND --help lists the flags of one.\n", invocation.program);
}

bool asks_for_help(const std::string& word) {
  return word == "--help" || word == "-h" || word == "help";
}

// "cdi" of `pagoda ctk cdi --help`: the words before the help flag, where they begin a row.
std::optional<std::string> group_asked_for(std::span<const CommandWords> table,
                                           const Invocation& invocation) {
  std::string words;
  for (const auto& argument : invocation.arguments) {
    if (asks_for_help(argument)) break;
    if (argument.starts_with('-')) return std::nullopt;
    words += (words.empty() ? "" : " ") + argument;
  }
  const bool begins = std::any_of(table.begin(), table.end(), [&](const auto& row) {
    return words.empty() || row.words.starts_with(words + " ");
  });
  return begins ? std::optional(words) : std::nullopt;
}

}  // namespace

int run_by_words(std::span<const CommandWords> table, std::string_view summary,
                 const Invocation& invocation) {
  const CommandWords* best = nullptr;
  size_t best_count = 0;
  for (const auto& row : table) {
    const auto words = split_words(row.words);
    if (words.size() > best_count && begins_with(invocation.arguments, words)) {
      best = &row;
      best_count = words.size();
    }
  }
  if (best != nullptr) {
    Invocation inner = invocation;
    inner.program += " " + std::string(best->words);
    inner.arguments.erase(inner.arguments.begin(),
                          inner.arguments.begin() + static_cast<std::ptrdiff_t>(best_count));
    return best->run(inner);
  }
  if (const auto group = group_asked_for(table, invocation)) {
    print_list(table, summary, invocation, *group);
    return invocation.arguments.empty() ? kExitUsage : kExitOk;
  }
  std::string typed;
  for (const auto& argument : invocation.arguments) {
    if (argument.starts_with('-')) break;
    typed += (typed.empty() ? "" : " ") + argument;
  }
  std::vector<std::string_view> names;
  for (const auto& row : table) names.push_back(row.words);
  const auto close = nearest(typed, names);
  return report_error(invocation,
                      {ErrorCode::kInvalidArgument,
                       format("no command '{}'; {}", typed.empty() ? invocation.arguments.front() : typed,
                              close ? format("did you mean `{} {}`?", invocation.program, *close)
                                    : format("`{} --help` lists what there is", invocation.program)),
                       ""});
}

int report_error(const Invocation& invocation, const Error& error) {
  const Paint paint = Paint::for_descriptor(STDERR_FILENO);
  fmt::print(stderr, "{} {}\n", paint(Ink::kRed, invocation.program + ":"), error.message);
  const bool askers_fault =
      error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kUnsupported;
  return askers_fault ? kExitUsage : kExitFailure;
}

FlagOutcome read_flags(const FlagTable& table, const Invocation& invocation) {
  auto parsed = parse_flags(table, invocation.arguments);
  if (!parsed) return {{}, report_error(invocation, parsed.error())};
  if (parsed->help) {
    fmt::print("{}", help_text(table, *parsed->help, Paint::for_descriptor(STDOUT_FILENO),
                               terminal_width(STDOUT_FILENO)));
    return {std::move(*parsed), kExitOk};
  }
  for (const std::string& warning : parsed->warnings) log::warning("{}", warning);
  return {std::move(*parsed), std::nullopt};
}

Flag flag_row(std::string_view name, std::string_view value_name, Setter set, std::string help,
              std::vector<std::string_view> aliases) {
  Flag flag;
  flag.name = name;
  flag.aliases = std::move(aliases);
  flag.group = "Flags";
  flag.value_name = value_name;
  flag.set = std::move(set);
  flag.help = std::move(help);
  return flag;
}

Flag switch_row(std::string_view name, bool* field, std::string help) {
  Flag flag = flag_row(name, "", to_switch(field), std::move(help));
  flag.takes = Takes::kNothing;
  return flag;
}

Flag list_row(std::string_view name, std::string_view value_name, std::vector<std::string>* field,
              std::string help) {
  Flag flag = flag_row(name, value_name, to_texts(field), std::move(help));
  flag.takes = Takes::kValues;
  return flag;
}

}  // namespace pagoda::app
