#include "app/dcgmi_command.h"

#include <array>

#include "app/dcgmi_commands.h"
#include "app/nearest.h"
#include "app/version.h"
#include "base/format.h"
#include "telemetry/dcgm_status.h"

namespace pagoda::app {
namespace {

struct Part {
  std::string_view name, summary;
  int (*run)(const std::string& program, DcgmiWords words);
};
constexpr std::array kParts = {
    Part{"discovery", "GPUs and MIG instances, and what they are", run_dcgmi_discovery},
    Part{"group", "groups of GPUs and instances", run_dcgmi_group},
    Part{"fieldgroup", "groups of fields", run_dcgmi_field_group},
    Part{"dmon", "values of fields, line by line", run_dcgmi_monitor},
    Part{"health", "watches, and what they find", run_dcgmi_health},
    Part{"diag", "tests of the software and the GPUs", run_dcgmi_diagnostic},
    Part{"policy", "what may not happen to a GPU, and what is done when it does", run_dcgmi_policy},
    Part{"topo", "how near GPUs and CPUs are", run_dcgmi_topology},
    Part{"nvlink", "states and error counters of NVLinks", run_dcgmi_nvlink},
    Part{"profile", "which profiling metrics a GPU has", run_dcgmi_profile},
    Part{"test", "a value in place of a reading, to try watches and policies", run_dcgmi_test},
};

// Parts of dcgmi that steer its daemon, or need it.
constexpr std::array<std::string_view, 6> kDaemonsOwn = {"modules", "introspect", "set",
                                                         "stats",   "config",     "mndiag"};

void print_parts(std::FILE* to, const std::string& program) {
  fmt::print(to, "Usage: {} PART [flags]; `{} PART --help` tells a part's flags\n\n", program, program);
  for (const Part& part : kParts) fmt::print(to, "  {:<12}{}\n", part.name, part.summary);
  fmt::print(to,
             "\nThere is no daemon: each call reads NVML itself. Groups, watches and policies are kept in a "
             "file.\n");
}

int unknown(const std::string& program, const std::string& word) {
  for (const std::string_view name : kDaemonsOwn) {
    if (word != name) continue;
    fmt::print("Error: '{}' steers DCGM's daemon or needs what it recorded, and there is none here.\n", word);
    return telemetry::exit_status(telemetry::DcgmStatus::kNotSupported);
  }
  fmt::print("ERROR: Invalid subsystem.\n\n");
  std::vector<std::string_view> names;
  for (const Part& part : kParts) names.push_back(part.name);
  if (const auto close = nearest(word, names)) fmt::print("Did you mean `{} {}`?\n\n", program, *close);
  print_parts(stdout, program);
  return telemetry::exit_status(telemetry::DcgmStatus::kBadParameter);
}

}  // namespace

int run_dcgmi_command(const Invocation& invocation) {
  const auto& words = invocation.arguments;
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    print_parts(words.empty() ? stderr : stdout, invocation.program);
    return words.empty() ? telemetry::exit_status(telemetry::DcgmStatus::kBadCommandLine) : kExitOk;
  }
  if (words[0] == "-v" || words[0] == "--vv" || words[0] == "--version") {
    fmt::print("Version : {}\n", version());
    return kExitOk;
  }
  for (const Part& part : kParts) {
    if (part.name == words[0])
      return part.run(format("{} {}", invocation.program, part.name), DcgmiWords(words).subspan(1));
  }
  return unknown(invocation.program, words[0]);
}

}  // namespace pagoda::app
