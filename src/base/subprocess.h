// Runs a program and waits for it. The child gets exactly the arguments and environment that it is given, no
// shell in between, and no descriptor of ours but 0, 1 and 2.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda {

struct Command {
  std::vector<std::string> arguments;                   // [0] is looked up in PATH unless it has a slash
  std::optional<std::vector<std::string>> environment;  // NAME=value; nullopt: ours
  std::string input;                                    // what the child reads on its standard input
};

struct Finished {
  int exit_code = 0;  // 128 + signal where a signal ended it
  std::string output, errors;
  bool ok() const { return exit_code == 0; }
};

// Captures both outputs, up to 64 MiB each. Error: the program could not be started (kNotFound: no such
// program).
Result<Finished> run_captured(const Command& command);

// The child writes to our own outputs; returns its exit code.
Result<int> run_visible(const Command& command);

// Whether PATH (or the name itself, with a slash) has this program; its path.
std::optional<std::string> find_program(const std::string& name);

// "apt-get install -y nvidia-driver-580": as a person would type it, quoted where a shell needs it.
std::string shell_words(const std::vector<std::string>& arguments);

}  // namespace pagoda
