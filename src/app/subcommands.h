// The table of subcommands, and how a call finds its row: `pagoda serve …`, a link of another name, a typing
// error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda::app {

// Exit codes of every subcommand.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // it was tried and did not work
inline constexpr int kExitUsage = 2;    // what was asked for is wrong, or not there

struct Invocation {
  std::string program;                 // as a person called it, for usage lines: "pagoda serve", "vllm serve"
  std::vector<std::string> arguments;  // after the subcommand
  bool drop_in = false;                // called as the server it replaces (vllm, tritonserver)
};

struct Subcommand {
  std::string_view name;
  std::string_view summary;                      // one line for the overview
  std::span<const std::string_view> stands_for;  // link names that act as this subcommand
  int (*run)(const Invocation&);                 // nullptr: planned, and said so when called
};

std::span<const Subcommand> subcommands();
const Subcommand* find_subcommand(std::string_view name);

// What a command line means, decided without running anything.
struct Call {
  enum class Kind { kOverview, kVersion, kHelp, kRun, kNotYet, kUnknown };
  Kind kind = Kind::kOverview;
  const Subcommand* subcommand = nullptr;  // kRun, kNotYet; kHelp: of which (nullptr: of the whole)
  Invocation invocation;                   // kRun
  std::string word;                        // kUnknown: what was typed; kNotYet: by which name
};
Call read_call(std::span<const char* const> argv);

// Does it; returns the exit code.
int dispatch(std::span<const char* const> argv);

}  // namespace pagoda::app
